"""`harness run`: several processes, parts, the first failure when it happens, and what is known after an interrupt."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree.ElementTree import parse

import pytest

from harness.reading.problems import Mark, Problem, ScenarioError
from harness.scenario.running.processes import Portions, by_release
from harness.scenario.running.runner import Runner
from tests.cli.command import as_json, call

CASES = """
scenario: many
matrix: {size: ['4', '2', '3'], x: [a, b, c]}
description: $(x)
then: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: $(size)}}}]
"""


@pytest.fixture
def many(here: Path) -> str:
    (here / "many.yaml").write_text(CASES)
    return "many.yaml"


def outcomes(value: Any) -> list[tuple[str, str]]:
    return [(case["id"], case["outcome"]) for case in value["cases"]]


def in_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(call(capsys, "run", *arguments, "--format", "json")[1])


def test_several_processes_find_the_same_in_the_same_order(many: str, capsys: pytest.CaptureFixture[str]) -> None:
    alone = in_json(capsys, many)
    assert len(alone["cases"]) == 9
    assert outcomes(in_json(capsys, many, "-n", "3")) == outcomes(alone)
    code, out, _ = call(capsys, "run", many, "-n", "2")
    assert (code, out.count("FAILED")) == (1, 6)


def test_the_first_failure_ends_the_run(many: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "run", many, "-x")
    assert code == 1
    assert out.splitlines()[-1].startswith("3 passed, 1 failed, 5 skipped ")


def test_parts_are_the_whole(many: str, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [outcomes(in_json(capsys, many, "--shard", f"{number}/4")) for number in range(1, 5)]
    assert [len(part) for part in parts] == [3, 2, 2, 2]
    assert sorted(one for part in parts for one in part) == sorted(outcomes(in_json(capsys, many)))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--shard", "3/2"), "--shard 3/2: I/N with 1 <= I <= N is expected"),
        (("--shard", "one"), "--shard one: I/N with"),
        (("-n", "0"), "-n 0: a number from 1 is expected"),
        (("--release", "1.14.9"), "--release: unknown release '1.14.9'; did you mean '1.14."),
    ],
)
def test_options_that_mean_nothing(
    many: str, arguments: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(capsys, "run", many, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness run: {text}")
    assert err.count("\n") == 1


def test_a_failure_is_told_when_it_happens_and_an_interrupt_prints_what_is_known(
    many: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Runner.run
    told: list[str] = []

    def interrupted(self: Runner, case: Any) -> Any:
        told.append(capsys.readouterr().out)
        if len(told) == 6:
            raise KeyboardInterrupt
        return run(self, case)

    monkeypatch.setattr(Runner, "run", interrupted)
    code, out, err = call(capsys, "run", many, "--junit", "out.xml")
    assert code == 130
    assert [text.count("FAILED") for text in told] == [0, 0, 0, 0, 1, 1]
    assert out.startswith("3 passed, 2 failed, 4 error ")
    assert err == "interrupted: 5 of 9 cases ran\n"
    report = parse(here / "out.xml")
    assert len(report.findall(".//testcase")) == 9
    assert [each.get("message") for each in report.iter("error")] == ["not run: interrupted"] * 4


@pytest.mark.parametrize(
    ("sizes", "processes"), [((9,), 2), ((1, 40, 3), 2), ((1, 1), 8), ((300, 2, 5), 4), ((50, 50), 2)]
)
def test_a_process_takes_cases_of_one_release(sizes: tuple[int, ...], processes: int) -> None:
    given = [SimpleNamespace(karpenter=f"1.{release}.0") for release, size in enumerate(sizes) for _ in range(size)]
    cases = [SimpleNamespace(given=one) for one in given[::2] + given[1::2]]
    queues = by_release(cast(Any, cases), processes)
    parts = [part for queue in queues for part in queue]
    assert sorted(number for part in parts for number in part) == [*range(len(cases))]
    assert len(queues) == processes
    in_turn = [[number for part in queue for number in part] for queue in queues]
    assert in_turn == [sorted(numbers) for numbers in in_turn]  # side by side through the list
    assert max(map(len, parts)) <= max(1, len(cases) // (4 * processes))
    fair = -(-len(cases) // processes)
    assert max(map(len, in_turn)) <= 2 * fair
    for release, size in enumerate(sizes):
        holders = [each for each in in_turn if any(cases[one].given.karpenter == f"1.{release}.0" for one in each)]
        assert len(holders) <= -(-size // fair)  # not more than it takes


def test_a_process_that_is_killed_costs_no_verdict(
    many: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, home = Runner.run, os.getpid()
    alone = in_json(capsys, many)

    def mortal(self: Runner, case: Any) -> Any:
        if os.getpid() != home and case.name.rstrip("]").endswith("b"):
            os.kill(os.getpid(), signal.SIGKILL)
        return run(self, case)

    monkeypatch.setattr(Runner, "run", mortal)
    assert outcomes(in_json(capsys, many, "-n", "2")) == outcomes(alone)


def test_who_has_no_portion_left_takes_the_next_of_who_has_most() -> None:
    queues = Portions([[(1,), (2, 3), (4,)], [], [(5,), (6,)]], multiprocessing)
    assert [queues.next(process) for process in (1, 0, 1, 1, 1, 0, 2)] == [(1,), (2, 3), (5,), (4,), (6,), (), ()]


def test_as_many_processes_as_there_are_cores(many: str, capsys: pytest.CaptureFixture[str]) -> None:
    alone, together = (call(capsys, "run", many, "-n", count) for count in ("1", "auto"))
    assert (together[0], together[1].count("FAILED")) == (alone[0], alone[1].count("FAILED"))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_bad_input_that_only_the_run_finds(
    many: str, processes: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(self: Runner, case: Any) -> Any:
        raise ScenarioError([Problem(Mark("many.yaml", 2, 3), "when", "nothing is there")])

    monkeypatch.setattr(Runner, "run", wrong)
    code, out, err = call(capsys, "run", many, "-n", processes)
    assert (code, err) == (2, "")
    assert out.count("many.yaml:2:3: when: nothing is there\n") == 9
    assert out.splitlines()[-1].startswith("9 error ")


def test_a_release_runs_a_case_of_a_matrix_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "m.yaml").write_text("scenario: x\nmatrix: {karpenter: [1.4.0, 1.7.2]}\nthen: [{pods: {bound: 0}}]\n")
    value = as_json(capsys, "run", "m.yaml", "--release", "1.14")
    assert ["::x[1.14." in case["id"] for case in value["cases"]] == [True]


POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.mark.parametrize("command", ["simulate", "explain"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--fail-on", "pending,rejected,unsettled,not-simulated"), 0),
        (("--quota", "cores=0"), 0),
        (("--quota", "cores=0", "--fail-on", "pending"), 1),
        (("--fault", "SkuNotAvailable", "--fail-on", "pending"), 0),
        (("--fault", "SkuNotAvailable", "--fail-on", "pending", "--fail-on", "rejected"), 1),
    ],
)
def test_fail_on(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, arguments: tuple[str, ...], code: int
) -> None:
    (here / "pod.yaml").write_text(POD)
    assert call(capsys, command, "pod.yaml", *arguments)[0] == code


def test_fail_on_what_is_not_simulated(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pod.yaml").write_text(POD + "---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: w}\n")
    assert call(capsys, "simulate", "pod.yaml", "--fail-on", "not-simulated")[0] == 1
    code, _, err = call(capsys, "explain", "pod.yaml", "--fail-on", "pendign")
    assert (code, err) == (2, "harness explain: --fail-on pendign: unknown failure; did you mean 'pending'?\n")
