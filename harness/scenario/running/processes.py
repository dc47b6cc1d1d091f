"""Cases in several processes, which are forked when all files are read: each has all cases, and answers with a case's number."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness import garbage

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from harness.scenario.language.cases import Case

__all__ = ["CannotFork", "Portions", "Processes", "by_release", "can_fork", "end_with", "processes_of"]

Portion = tuple[int, ...]
"""Numbers of cases that a process takes at once."""

_PORTION = 16
"""Cases of a portion at most, so that the last process to end keeps the others waiting for a part of a second only."""


class CannotFork(Exception):
    """This system has no safe fork."""


def can_fork() -> bool:
    """Return whether processes can be forked here: not on Windows, and on macOS its own libraries may hang in a child (docs.python.org,
    multiprocessing, "Contexts and start methods")."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def processes_of(text: str) -> int:
    """Return the number of an option: `auto` is one for each core that this process may use, and one where none can be forked.

    Raises ValueError.
    """
    if text != "auto":
        return int(text)
    if not can_fork():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


processes_of.__name__ = "int"  # the word in argparse's message about a text that is no number


def by_release(cases: Sequence[Case], processes: int) -> list[list[Portion]]:
    """Return the portions of each process, in the order of its cases, so that all processes go side by side through the list.

    Cases of one release share its computed lists, which take as long as some of them. So a process gets all of a release if it can;
    the largest releases are dealt out first, and those of more cases than a process should have to several.
    """
    from harness.karpenter.releases import DEFAULT_RELEASE

    most = max(1, min(_PORTION, len(cases) // (4 * processes)))
    fair = -(-len(cases) // processes)
    releases: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        releases.setdefault((case.given.karpenter or DEFAULT_RELEASE).removeprefix("v"), []).append(number)
    groups: list[list[int]] = []
    for numbers in releases.values():
        parts = -(-len(numbers) // fair)
        groups += [numbers[part::parts] for part in range(parts)]
    dealt: list[list[int]] = [[] for _ in range(processes)]
    for numbers in sorted(groups, key=len, reverse=True):
        min(dealt, key=len).extend(numbers)
    return [
        [tuple(queue[start : start + most]) for start in range(0, len(queue), most)] for queue in map(sorted, dealt)
    ]


class Portions:
    """The portions of each process.

    A process without portions takes the next one of the process that has most left: results are reported in the order of the cases.
    """

    def __init__(self, queues: Sequence[Sequence[tuple[int, ...]]], context: Any) -> None:
        self._queues = queues
        self._taken: Any = context.Array("i", len(queues))

    def next(self, process: int) -> tuple[int, ...]:
        """Return the next portion for a process, none at the end."""
        with self._taken.get_lock():
            left = [len(queue) - taken for queue, taken in zip(self._queues, self._taken, strict=True)]
            whose = process if left[process] else left.index(max(left))
            if not left[whose]:
                return ()
            number: int = self._taken[whose]
            self._taken[whose] = number + 1
            return self._queues[whose][number]


class Processes:
    """One process for each queue of portions. `judge` is called there with a case's number; its result goes through pickle."""

    def __init__(self, queues: Sequence[Sequence[Portion]], judge: Callable[[int], Any]) -> None:
        self._queues, self._judge = queues, judge
        self._workers: list[Any] = []
        self._open: list[Any] = []
        self._lifeline: Any = None

    def start(self) -> None:
        """Fork. Raises CannotFork."""
        from multiprocessing import get_context

        if not can_fork():
            raise CannotFork
        context = get_context("fork")
        portions = Portions(self._queues, context)
        theirs_to_hear, self._lifeline = context.Pipe(duplex=False)
        for number in range(len(self._queues)):
            ours, theirs = context.Pipe(duplex=False)
            self._open.append(ours)
            arguments = self._judge, portions, number, theirs, (theirs_to_hear, self._lifeline), tuple(self._open)
            self._workers.append(context.Process(target=_work, args=arguments, daemon=True))
            self._workers[-1].start()
            theirs.close()
        theirs_to_hear.close()

    def ready(self, timeout: float | None = None) -> list[tuple[int, Any]]:
        """Return numbers and answers that have come, after a wait of `timeout` seconds (None: until there is one). Empty once all have
        ended."""
        from multiprocessing.connection import wait

        received: list[tuple[int, Any]] = []
        while self._open and not received:
            connections: list[Any] = wait(self._open, timeout)
            if not connections:
                break
            for connection in connections:
                try:
                    received.append(connection.recv())
                except (EOFError, OSError):  # it has ended, or was killed in the middle of an answer
                    self._open.remove(connection)
        return received

    def answers(self) -> Iterator[tuple[int, Any]]:
        """Yield all answers as they come, from the start to the end of the processes. Raises CannotFork."""
        try:
            self.start()
            while received := self.ready():
                yield from received
        finally:
            self.stop()

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        for worker in self._workers:
            if worker.pid is not None:
                worker.terminate()
                worker.join()
        self._workers.clear()
        self._open.clear()
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None


def end_with(lifeline: Connection) -> None:
    """End this process when the one at the other end of ``lifeline`` has ended, however it did: nobody is left to take an answer."""
    from threading import Thread

    def listen() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()  # nothing is ever sent
        os._exit(1)

    Thread(target=listen, daemon=True, name="lifeline").start()


def _work(
    judge: Callable[[int], Any],
    portions: Portions,
    process: int,
    answers: Connection,
    lifeline: tuple[Connection, Connection],
    read: Sequence[Connection],
) -> None:
    """Judge portions until none is left.

    ``read`` are the ends of pipes that came along with the fork: the end of the reader is noticed only where nobody else holds them.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # so, whatever that one does about the signal itself
    for inherited in read:
        inherited.close()
    hears, speaks = lifeline
    speaks.close()
    end_with(hears)
    garbage.keep()
    while part := portions.next(process):
        for number in part:
            answer = judge(number)
            try:
                answers.send((number, answer))
            except BrokenPipeError:  # nobody waits for it: the other process was killed
                return
            garbage.after_world()
