"""Agent pools in scenario files: what is wrong with them is told at its place."""

from __future__ import annotations

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

HEAD = "scenario: s\ngiven:\n  agentPools:\n  - {name: apps, count: 1, vmSize: Standard_D4s_v5}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("vmSize", "vmSise"), "unknown key 'vmSise'; did you mean 'vmSize'?"),
        (HEAD.replace(", vmSize: Standard_D4s_v5", ""), "'vmSize' is missing"),
        (HEAD.replace("count: 1", "count: many"), "given.agentPools[0].count"),
        (HEAD + "when:\n- agentPool: {name: apps}\n", "exactly one of count, delete, taint is expected"),
        (HEAD + "when:\n- agentPool: {name: apps, delete: false}\n", "delete: true is expected"),
    ],
)
def test_a_mistake_is_told_when_the_file_is_read(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_text(text + "then:\n- pods: {pending: 0}\n", file="s.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("s.yaml:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("D4s_v5", "Nope"), "s.yaml:4:5: given.agentPools[0]: VMSizeNotSupported"),
        (HEAD + "when:\n- agentPool: {name: web, count: 2}\n", "s.yaml:6:3: when: there is no agent pool 'web'"),
        (HEAD + "when:\n- agentPool: {name: apps, count: 5000}\n", "s.yaml:6:3: when: InvalidRequestContent"),
        (
            HEAD + "when:\n- machine: {of: Node/*, becomes: lost}\n",
            "is of an agent pool: the step agentPool changes that",
        ),
    ],
)
def test_what_does_not_exist_is_told_when_it_is_run(text: str, message: str) -> None:
    (scenario,) = load_text(text + "then:\n- pods: {pending: 0}\n", file="s.yaml")
    with pytest.raises(ScenarioError) as caught:
        Runner().run(scenario.cases[0])
    assert message in str(caught.value)
