"""The cases of `harness run`, one after the other or in several processes, and how far it has come."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from harness import garbage
from harness.cli.worlds import InputError
from lazyrecords import dataclass

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from harness.reading.problems import ScenarioError
    from harness.scenario.language.cases import Case
    from harness.scenario.running.verdicts import CaseReport

    Outcome = CaseReport | ScenarioError

__all__ = ["Portions", "Progress", "Shard", "each_report", "portions", "progress"]

_SECONDS = 10.0
"""How long nothing is told of a run that goes well, where nobody watches a bar."""


_PORTIONS = 32
"""Of how many portions each process takes about so many: the last one to end keeps the others waiting for a part of one only."""
_MANY = 200
"""From how many cases on worlds are freed one by one; fewer end before there is garbage to speak of."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count`."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Shard:
        """`2/5`; the whole where nothing is said. Raises InputError."""
        if text is None:
            return cls()
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"--shard {text}: I/N with 1 <= I <= N is expected, for example 2/5")
        return cls(int(found[1]), int(found[2]))

    def of(self, cases: Sequence[Case]) -> list[Case]:
        """Every so many cases, so that files of many cases are divided, too."""
        return list(cases[self.number - 1 :: self.count])


class RunsCases(Protocol):
    """Runs one case after the other."""

    def run(self, case: Case) -> CaseReport: ...


def each_report(runner: RunsCases, cases: Sequence[Case], processes: int = 1) -> Iterator[tuple[int, Outcome]]:
    """Number and outcome of each case as it ends; bad input that only the run found is a ScenarioError.

    Raises InputError for a number of processes that there cannot be.
    """
    if processes < 1:
        raise InputError(f"-n {processes}: a number from 1 is expected")
    if processes == 1:
        for number, case in enumerate(cases):
            yield number, _outcome(runner, case)
            if len(cases) >= _MANY:
                garbage.after_case()
    else:
        yield from _in_processes(runner, cases, min(processes, len(cases)))


def _outcome(runner: RunsCases, case: Case) -> Outcome:
    from harness.reading.problems import ScenarioError

    try:
        return runner.run(case)
    except ScenarioError as error:
        return error


def portions(cases: Sequence[Case], processes: int) -> list[list[tuple[int, ...]]]:
    """What each process takes one after the other: numbers of cases.

    Cases of one release share what is computed for it, which takes as long as some of them. So a process gets all of a release if it can;
    the largest releases are dealt out first, and those of many cases to several processes.
    """
    from harness.karpenter.releases import DEFAULT_RELEASE

    most = max(1, len(cases) // (processes * _PORTIONS))
    fair = -(-len(cases) // processes)
    releases: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        releases.setdefault((case.given.karpenter or DEFAULT_RELEASE).removeprefix("v"), []).append(number)
    groups = [numbers[start : start + fair] for numbers in releases.values() for start in range(0, len(numbers), fair)]
    queues: list[list[tuple[int, ...]]] = [[] for _ in range(processes)]
    loads = [0] * processes
    for numbers in sorted(groups, key=len, reverse=True):
        least = loads.index(min(loads))
        loads[least] += len(numbers)
        queues[least] += [tuple(numbers[start : start + most]) for start in range(0, len(numbers), most)]
    return queues


class Portions:
    """The portions of each process. Who has none left takes the last one of the process that has most."""

    def __init__(self, queues: Sequence[Sequence[tuple[int, ...]]], context: Any) -> None:
        self._queues = queues
        self._bounds: Any = context.Array("i", [bound for queue in queues for bound in (0, len(queue))])

    def next(self, process: int) -> tuple[int, ...]:
        """Returns the next portion for a process, none at the end."""
        bounds = self._bounds
        with bounds.get_lock():
            left = [bounds[2 * each + 1] - bounds[2 * each] for each in range(len(self._queues))]
            if left[process]:
                first: int = bounds[2 * process]
                bounds[2 * process] = first + 1
                return self._queues[process][first]
            other = left.index(max(left))
            if not left[other]:
                return ()
            last: int = bounds[2 * other + 1] - 1
            bounds[2 * other + 1] = last
            return self._queues[other][last]


def _in_processes(runner: RunsCases, cases: Sequence[Case], processes: int) -> Iterator[tuple[int, Outcome]]:
    """Forks the processes, which know all cases already."""
    from multiprocessing import get_all_start_methods, get_context
    from multiprocessing.connection import wait

    if "fork" not in get_all_start_methods():
        raise InputError("-n: this system cannot fork processes")
    context = get_context("fork")
    queues = Portions(portions(cases, processes), context)
    workers: list[Any] = []
    open_: list[Any] = []
    try:
        for number in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            workers.append(context.Process(target=_work, args=(runner, cases, queues, number, theirs), daemon=True))
            workers[-1].start()
            theirs.close()
            open_.append(ours)
        while open_:
            ready: list[Any] = wait(open_)
            for one in ready:
                try:
                    yield one.recv()
                except EOFError:
                    open_.remove(one)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _work(runner: RunsCases, cases: Sequence[Case], queues: Portions, process: int, answers: Connection) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    garbage.keep()
    while part := queues.next(process):
        for number in part:
            answers.send((number, _outcome(runner, cases[number])))
            garbage.after_case()


class Progress(Protocol):
    """How far a run has come, on standard error."""

    def advance(self, *, bad: bool) -> None:
        """One case more has ended."""

    def show(self, text: str) -> None:
        """Prints text on standard output, without disturbing what is told here."""

    def end(self) -> None:
        """Nothing more is told."""


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
            print(text, file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        print(text, flush=True)

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
        print(text, flush=True)
        self._bar.start()

    def end(self) -> None:
        self._bar.stop()
