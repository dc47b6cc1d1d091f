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


SCALED = HEAD.replace("D4s_v5}", "D4s_v5, enableAutoScaling: true, minCount: 1, maxCount: 3}")
WITH_AUTOSCALER = SCALED + "  clusterAutoscaler: {expander: random}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCALED, "agentPools with enableAutoScaling need clusterAutoscaler: true"),
        (HEAD + "  clusterAutoscaler: true\n", "clusterAutoscaler needs an agent pool with enableAutoScaling: true"),
        (HEAD.replace("D4s_v5}", "D4s_v5, minCount: 1}"), "minCount and maxCount need enableAutoScaling: true"),
        (WITH_AUTOSCALER.replace(", maxCount: 3", ""), "enableAutoScaling needs minCount and maxCount"),
        (WITH_AUTOSCALER.replace("count: 1", "count: 4"), "count has to lie between minCount and maxCount"),
        (WITH_AUTOSCALER.replace("maxCount: 3", "maxCount: 0"), "minCount is larger than maxCount"),
        (
            WITH_AUTOSCALER.replace("count: 1, vm", "count: 1, mode: System, vm").replace("minCount: 1", "minCount: 0"),
            "a System pool keeps at least one machine: minCount from 1 is expected",
        ),
        (WITH_AUTOSCALER.replace("expander", "expandr"), "unknown key 'expandr'; did you mean 'expander'?"),
        (WITH_AUTOSCALER.replace("random", "price"), "one of least-waste, most-pods, priority, random is expected"),
        (
            WITH_AUTOSCALER.replace("expander: random", "scale-down-unneeded-time: 90s"),
            "given.clusterAutoscaler.scale-down-unneeded-time: a whole number with the unit m is expected",
        ),
        (WITH_AUTOSCALER.replace("{expander: random}", "yes"), "'true' or 'false' is expected, not 'yes'"),
    ],
)
def test_a_mistake_about_the_autoscaler_is_told_when_the_file_is_read(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_text(text + "then:\n- pods: {pending: 0}\n", file="s.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("s.yaml:")


@pytest.mark.parametrize(
    ("autoscaler", "settings"),
    [("true", {}), ("{expander: most-pods, scan-interval: 20s}", {"expander": "most-pods", "scan-interval": "20s"})],
)
def test_the_autoscaler_has_the_settings_of_the_file(autoscaler: str, settings: dict[str, str]) -> None:
    text = WITH_AUTOSCALER.replace("{expander: random}", autoscaler)
    (scenario,) = load_text(text + "then:\n- pods: {pending: 0}\n", file="s.yaml")
    assert scenario.cases[0].given.autoscaler_settings == settings


def test_a_pool_that_autoscales_is_not_scaled_by_hand() -> None:
    text = WITH_AUTOSCALER + "when:\n- agentPool: {name: apps, count: 2}\nthen:\n- pods: {pending: 0}\n"
    (scenario,) = load_text(text, file="s.yaml")
    with pytest.raises(ScenarioError) as caught:
        Runner().run(scenario.cases[0])
    assert "when: Cannot scale cluster autoscaler enabled node pool." in str(caught.value)
