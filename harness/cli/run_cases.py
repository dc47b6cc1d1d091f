"""The cases of `harness run`, one after the other or in several processes, and how far it has come."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from harness import garbage
from harness.cli.output import colour
from harness.cli.worlds import InputError
from lazyrecords import dataclass
from plainlines import print_line, print_lines

if TYPE_CHECKING:
    from harness.scenario.expectations.verdicts import CaseReport
    from harness.scenario.language.cases import Case

__all__ = ["Progress", "Shard", "each_report", "progress"]

_SECONDS = 10.0
"""The time without news of a run that goes well, where nobody watches a bar."""


_MANY = 200
"""From how many cases on worlds are freed one by one; fewer end before there is garbage to speak of."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count`."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Shard:
        """Parses `2/5`; None is the whole. Raises InputError."""
        if text is None:
            return cls()
        parts = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if parts is None or not 1 <= int(parts[1]) <= int(parts[2]):
            raise InputError(f"--shard {text}: I/N with 1 <= I <= N is expected, for example 2/5")
        return cls(int(parts[1]), int(parts[2]))

    def of(self, cases: Sequence[Case]) -> list[Case]:
        """The cases of this part: every `count`-th, so that files with many cases are divided, too."""
        return list(cases[self.number - 1 :: self.count])


class RunsCases(Protocol):
    """Runs one case after the other."""

    def run(self, case: Case) -> CaseReport: ...


def each_report(runner: RunsCases, cases: Sequence[Case], processes: int = 1) -> Iterator[tuple[int, CaseReport]]:
    """Number and report of each case as it ends; one that cannot be run, as only the run found, is an error with its problems.

    Raises InputError for a number of processes that there cannot be.
    """
    if processes < 1:
        raise InputError(f"-n {processes}: a number from 1 is expected")
    if processes == 1:
        for number, case in enumerate(cases):
            yield number, _report(runner, case)
            if len(cases) >= _MANY:
                garbage.after_world()
    else:
        yield from _in_processes(runner, cases, min(processes, len(cases)))


def _report(runner: RunsCases, case: Case) -> CaseReport:
    from harness.reading.problems import ScenarioError
    from harness.scenario.expectations.verdicts import CaseReport, Outcome

    try:
        return runner.run(case)
    except ScenarioError as error:
        tags = tuple(case.header.tags)
        return CaseReport(
            case.name, case.file, case.mark, Outcome.ERROR, error=str(error), tags=tags, problems=error.problems
        )


def _in_processes(runner: RunsCases, cases: Sequence[Case], processes: int) -> Iterator[tuple[int, CaseReport]]:
    from harness.scenario.running.processes import CannotFork, Processes, by_release

    left = dict(enumerate(cases))
    try:
        for number, report in Processes(
            by_release(cases, processes), lambda position: _report(runner, cases[position])
        ).answers():
            del left[number]
            yield number, report
    except CannotFork:
        raise InputError("-n: this system cannot fork processes (it can on Linux): leave it out") from None
    for number, case in left.items():  # a process was killed
        yield number, _report(runner, case)


class Progress(Protocol):
    """The progress of a run, on standard error."""

    def advance(self, *, bad: bool) -> None:
        """Count one more case that has ended."""

    def show(self, text: str) -> None:
        """Print text on standard output, without disturbing what is told here."""

    def end(self) -> None:
        """End the display."""


def progress(count: int, noun: str = "cases") -> Progress:
    """A bar on a terminal if rich is installed; elsewhere a line when some time has passed. Both say how long the rest may take."""
    if sys.stderr.isatty():
        try:
            return _Bar(count, noun)
        except ImportError:
            pass
    return _Lines(count, noun)


class _Lines:
    def __init__(self, count: int, noun: str) -> None:
        self._count, self._noun, self._done, self._bad = count, noun, 0, 0
        self._start = self._last = perf_counter()

    def advance(self, *, bad: bool) -> None:
        self._done += 1
        self._bad += bad
        if perf_counter() - self._last >= _SECONDS and self._done < self._count:
            self._last = perf_counter()
            left = (self._last - self._start) / self._done * (self._count - self._done)
            text = f"{self._done} of {self._count} {self._noun}, {self._bad} failed, about {left:.0f} s to go"
            print_line(text, error=True, flush=True)

    def show(self, text: str) -> None:
        print_lines(text, flush=True, coloured=colour())

    def end(self) -> None:
        pass


class _Bar:
    """Raises ImportError without rich."""

    def __init__(self, count: int, noun: str) -> None:
        from rich.console import Console
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(noun, total=count)
        self._noun, self._bad = noun, 0
        self._bar.start()

    def advance(self, *, bad: bool) -> None:
        self._bad += bad
        self._bar.update(
            self._task, advance=1, description=f"{self._noun}, {self._bad} failed" if self._bad else self._noun
        )

    def show(self, text: str) -> None:
        self._bar.stop()
        print_lines(text, flush=True, coloured=colour())
        self._bar.start()

    def end(self) -> None:
        self._bar.stop()
