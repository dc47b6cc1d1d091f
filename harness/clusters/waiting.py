"""Real time, for servers that live in it. The only module of the clusters that reads a clock; virtual time is harness.engine.clock.

Patience is measured in the seconds of a machine that has nothing else to do: while more tasks want to run than there are
processors, waiting costs less of it. A busy machine is slow, not broken.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from harness.clusters.errors import ClusterFailed

__all__ = ["Deadline", "Interrupted", "Patience", "TimedOut", "crowding", "poll", "sleep", "stopwatch", "unique"]

T = TypeVar("T")


class TimedOut(ClusterFailed, TimeoutError):
    """A wait without success; the message says for what, and for how long."""


class Interrupted(Exception):
    """The user, or the caller of the command, has ended it. `exit_code` is a shell's for the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by signal {number}")
        self.exit_code = 128 + number


class Deadline:
    """A moment in real time, `seconds` from its making."""

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then, never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        """Return whether it is over."""
        return time.monotonic() >= self._end


def crowding() -> float:
    """Return the number of tasks per processor of this machine now, by its load average; at least 1, also without a load average."""
    try:
        load = os.getloadavg()[0]
    except OSError:
        return 1.0
    return max(1.0, load / (os.cpu_count() or 1))


class Patience:
    """`seconds` of an idle machine, which real time uses up the more slowly the more tasks share a processor."""

    __slots__ = ("_crowding", "_last", "_left", "_now", "_start", "seconds")

    def __init__(
        self, seconds: float, *, now: Callable[[], float] = time.monotonic, crowding: Callable[[], float] = crowding
    ) -> None:
        self.seconds = seconds
        self._now, self._crowding = now, crowding
        self._left = seconds
        self._start = self._last = now()

    @property
    def passed(self) -> bool:
        """Return whether it is over."""
        now = self._now()
        self._left -= (now - self._last) / self._crowding()
        self._last = now
        return self._left <= 0.0

    @property
    def waited(self) -> str:
        """The real time since it was made, in words."""
        return f"{self._now() - self._start:.0f} s"


def poll(probe: Callable[[], T | None], subject: Callable[[], str] | str, *, seconds: float, every: float = 0.02) -> T:
    """Call `probe` until it returns something true, and return that. Raises TimedOut, naming the `subject` of the wait.

    `seconds` are those of Patience. `probe` is called at least once after the end of the last pause.
    """
    patience = Patience(seconds)
    while True:
        answer = probe()
        if answer:
            return answer
        if patience.passed:
            raise TimedOut(f"waited {patience.waited} for {subject if isinstance(subject, str) else subject()}")
        time.sleep(every)


def sleep(seconds: float) -> None:
    """Let real time pass."""
    time.sleep(seconds)


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the seconds since now."""
    start = time.perf_counter()
    return lambda: time.perf_counter() - start


def unique() -> str:
    """Return a word that is unique on this machine, made from process and time."""
    return f"{os.getpid():x}-{time.time_ns() & 0xFFFFFFFFFF:x}"
