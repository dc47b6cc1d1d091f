"""`--processes`: the same tests with the same outcomes, judged in other processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from time import perf_counter, sleep
from typing import Any
from warnings import warn

import pytest

from harness.scenario.language.cases import Case
from harness.scenario.running.processes import CannotFork, Processes
from harness.scenario.running.runner import Runner
from tests.plugin.inside import run

FILE = """
scenario: right
matrix: {seed: [1, 2, 3, 4]}
given: {seed: '${seed}'}
then:
- requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}
- pods: {bound: 0}
---
scenario: wrong
then:
- requirements: {of: Standard_D2s_v5, are: {karpenter.azure.com/sku-cpu: 4}}
---
scenario: later
skip: not yet
then: [{pods: {bound: 1}}]
---
scenario: known
xfail: {reason: broken}
then: [{pods: {bound: 1}}]
---
scenario: repaired
xfail: {reason: was broken}
then: [{pods: {bound: 0}}]
"""
PYTHON = "def test_python(world):\n    assert world.settle().quiescent\n"


@pytest.fixture
def project(project: pytest.Pytester) -> pytest.Pytester:
    project.makefile(".yaml", web=FILE)
    return project


def outcomes(result: pytest.RunResult) -> list[str]:
    """What is said of each test, without times."""
    return sorted(line for line in result.outlines if "::" in line or "expected" in line or "found" in line)


def test_the_same_outcomes_and_texts(project: pytest.Pytester) -> None:
    project.makepyfile(test_python=PYTHON)
    here, there = (
        run(project, "-v", "-rA", "web.yaml", "test_python.py", *more) for more in ((), ("--processes", "2"))
    )
    there.assert_outcomes(passed=5, failed=2, skipped=1, xfailed=1)
    assert here.parseoutcomes() == there.parseoutcomes()
    assert [line.partition(" [")[0] for line in outcomes(here)] == [line.partition(" [")[0] for line in outcomes(there)]


def test_the_cases_are_judged_elsewhere(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, home = Runner.verdicts, os.getpid()

    def noted(self: Runner, case: Case) -> Any:
        with Path("judged").open("a", encoding="utf-8") as file:
            print(os.getpid() == home, file=file)
        return judge(self, case)

    monkeypatch.setattr(Runner, "verdicts", noted)
    run(project, "web.yaml", "--processes", "2")
    assert Path("judged").read_text().split() == ["False"] * 7


def test_an_error_is_shown_by_the_test_itself(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Runner, case: Case) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Runner, "verdicts", broken)
    result = run(project, "web.yaml", "-k", "right", "--processes", "2")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["E*RuntimeError: out of order"])


def test_a_process_that_dies_costs_no_verdict(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, home = Runner.verdicts, os.getpid()

    def mortal(self: Runner, case: Case) -> Any:
        if os.getpid() != home and case.name.startswith("right"):
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(self, case)

    monkeypatch.setattr(Runner, "verdicts", mortal)
    run(project, "web.yaml", "--processes", "2").assert_outcomes(passed=4, failed=2, skipped=1, xfailed=1)


def test_a_warning_is_what_the_filters_say(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Runner.verdicts

    def warning(self: Runner, case: Case) -> Any:
        warn("old", DeprecationWarning, stacklevel=1)
        return judge(self, case)

    monkeypatch.setattr(Runner, "verdicts", warning)
    for words, counted in (("-Werror", {"failed": 4}), ("-Wignore", {"passed": 4}), ("-Wdefault", {"passed": 4})):
        result = run(project, "web.yaml", "-k", "right", "--processes", "2", words)
        result.assert_outcomes(**counted, deselected=4, warnings=4 if words == "-Wdefault" else 0)


def test_a_runner_of_a_conftest_is_asked(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import pytest
        from harness.scenario.running.runner import Runner

        pytest_plugins = ("harness.pytest_plugin",)

        class Broken(Runner):
            def verdicts(self, case):
                raise RuntimeError("asked")

        @pytest.fixture(scope="session")
        def scenario_runner():
            return Broken()
        """
    )
    run(project, "web.yaml", "-k", "right", "--processes", "2").assert_outcomes(failed=4, deselected=4)


def test_a_process_that_is_killed_in_the_middle_of_an_answer() -> None:
    def judge(number: int) -> bytes:
        Timer(0.1, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return bytes(10_000_000)

    processes = Processes([[(0,)]], judge)
    processes.start()
    sleep(0.5)
    assert processes.ready() == []
    processes.stop()


def test_processes_end_whatever_is_done_about_sigterm() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        processes = Processes([[(0,)], [(1,)]], lambda number: sleep(60))
        processes.start()
        sleep(0.2)
        start = perf_counter()
        processes.stop()
        assert perf_counter() - start < 30
    finally:
        signal.signal(signal.SIGTERM, before)


ORPHANS = """
import os, signal, time
from harness.scenario.running.processes import Processes

processes = Processes([[(0,), (1,)], [(2,), (3,)]], lambda number: bytes(1_000_000))
processes.start()
time.sleep(0.3)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nobody_is_left_behind_when_the_one_that_reads_is_killed() -> None:
    run = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (
        -signal.SIGKILL,
        b"",
    )  # at the end of the output: all that could write to it are gone


def test_the_first_failure_ends_it(project: pytest.Pytester) -> None:
    run(project, "web.yaml", "-x", "--processes", "2").assert_outcomes(passed=4, failed=1)


def test_a_case_takes_as_long_as_its_process_worked(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Runner.verdicts

    def late(self: Runner, case: Case) -> Any:
        if case.name.startswith("right"):
            sleep(0.3)
        return judge(self, case)

    monkeypatch.setattr(Runner, "verdicts", late)
    run(project, "web.yaml", "--processes", "4", "--write-durations", "seconds.json")
    seconds = json.loads(Path("seconds.json").read_text())
    assert all(
        seconds[f"web.yaml::right[{seed}]"] >= 0.3 for seed in range(1, 5)
    )  # also of those that nobody waited for


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--processes", "0"), "ERROR: --processes: 0 is less than 1"),
        (("--processes", "many"), "*argument --processes: invalid int value: 'many'"),
        (
            ("--processes", "2", "--cluster", "apiserver"),
            "ERROR: --processes: only in memory, with the simulated Karpenter; elsewhere pytest-xdist's -n divides the cases",
        ),
    ],
)
def test_usage_errors(project: pytest.Pytester, words: tuple[str, ...], told: str) -> None:
    result = run(project, "web.yaml", *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_beside_xdist(project: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = project.runpytest_subprocess("web.yaml", "-n", "2", "--processes", "2")
    result.stderr.fnmatch_lines(
        ["ERROR: --processes: pytest-xdist's -n starts processes of its own; one of both is enough"]
    )


def test_as_many_as_there_are_cores_is_none_where_no_process_can_be_forked(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    outcomes = run(project, "web.yaml", "--processes", "auto").parseoutcomes()
    assert outcomes == run(project, "web.yaml").parseoutcomes()


def test_a_system_without_fork(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: Processes) -> None:
        raise CannotFork

    monkeypatch.setattr(Processes, "start", start)
    run(project, "web.yaml", "--processes", "2").stderr.fnmatch_lines(
        ["*--processes: this system cannot fork processes (it can on Linux): leave it out"]
    )
