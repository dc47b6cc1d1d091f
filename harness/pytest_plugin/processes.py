"""`--processes N`: cases are judged ahead of pytest, in processes that are forked when everything is collected.

pytest-xdist's workers each import, read and check all files, and report every expectation over a pipe. Here pytest stays in one process,
with all its options, and a case's test waits for the verdicts of the case.
"""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

import pytest

from harness import garbage
from harness.pytest_plugin.session import AHEAD, runner_of
from harness.scenario.running.processes import CannotFork, Processes, by_release

if TYPE_CHECKING:
    from harness.scenario.expectations.verdicts import Verdict

    Judged = tuple[tuple[Verdict, ...], float]

__all__ = ["Ahead", "GarbageSeldom"]


class Ahead:
    """A plugin: the processes of a session, and their verdicts."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: Processes | None = None
        self._numbers: dict[str, int] = {}
        self._found: dict[int, Judged | None] = {}
        self._seconds: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Fork; the loop itself is pytest's."""
        from harness.pytest_plugin.items import ScenarioItem

        config = session.config
        items = [item for item in session.items if isinstance(item, ScenarioItem) and item.case.header.skip is None]
        if len(items) < 2 or config.option.collectonly:
            return
        cases = [item.case for item in items]
        self._numbers = {item.nodeid: number for number, item in enumerate(items)}
        runner = runner_of(config)

        def judge(number: int) -> Judged | None:
            start = perf_counter()
            try:
                with catch_warnings(record=True) as warned:
                    simplefilter("always")
                    verdicts = runner.verdicts(cases[number])
            except Exception:
                return None  # its test judges again, and shows the error
            return None if warned else (verdicts, perf_counter() - start)  # pytest's filters decide about a warning

        self._processes = Processes(by_release(cases, min(self._count, len(cases))), judge)
        try:
            self._processes.start()
        except CannotFork:
            raise pytest.UsageError(
                "--processes: this system cannot fork processes (it can on Linux): leave it out"
            ) from None
        config.stash[AHEAD] = self.verdicts

    def verdicts(self, test: str) -> tuple[Verdict, ...] | None:
        """Return a process's verdicts on the case of a test, by its id; None where the test has to judge: once more, or with an error."""
        number = self._numbers.pop(test, None)
        if number is None or self._processes is None:
            return None
        while number not in self._found:
            came = self._processes.ready()
            if not came:
                return None
            self._found.update(came)
        while came := self._processes.ready(0):  # so that no process waits until its answer is read
            self._found.update(came)
        judged = self._found.pop(number)
        if judged is None:
            return None
        verdicts, self._seconds[test] = judged
        return verdicts

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Set the duration of a case: as long as its process worked on it, not as long as its test waited."""
        report = yield
        if call.when == "call":
            report.duration = self._seconds.pop(item.nodeid, report.duration)
        return report

    def pytest_sessionfinish(self) -> None:
        """End the processes, also after `-x` or an interrupt."""
        if self._processes is not None:
            self._processes.stop()


class GarbageSeldom:
    """A plugin for the sessions that collect scenario files: Python looks for garbage as `harness.garbage` says."""

    def __init__(self) -> None:
        garbage.look_seldom()

    def pytest_collection_finish(self) -> None:
        """Keep the collected items out of later looks: they live until the end."""
        garbage.keep()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Count the world of a case; a test in Python may leave anything or nothing, so that it is not worth a look of its own."""
        from harness.pytest_plugin.items import ScenarioItem

        if isinstance(item, ScenarioItem):
            garbage.after_world()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep all objects at the end: pytest looks through them five times for open files, and scenarios in memory open none."""
        from harness.pytest_plugin.items import ScenarioItem

        if session.config.getoption("scenarios_cluster") == "memory" and all(
            isinstance(item, ScenarioItem) for item in session.items
        ):
            garbage.keep()
