"""Real time, for servers that live in it. The only module of the clusters that reads a clock; virtual time is harness.engine.clock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Deadline", "TimedOut", "poll", "stopwatch", "unique"]

T = TypeVar("T")


class TimedOut(TimeoutError):
    """Something did not come about in time; the message says what and for how long it was waited for."""


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
        """Whether it is over."""
        return time.monotonic() >= self._end


def poll(probe: Callable[[], T | None], what: Callable[[], str] | str, *, seconds: float, every: float = 0.02) -> T:
    """Asks `probe` until it answers something true, which is returned. Raises TimedOut, saying what was waited for."""
    deadline = Deadline(seconds)
    while True:
        found = probe()
        if found:
            return found
        if deadline.passed:
            raise TimedOut(f"waited {seconds:g} s for {what if isinstance(what, str) else what()}")
        time.sleep(every)


def stopwatch() -> Callable[[], float]:
    """A function that answers the seconds since now."""
    start = time.perf_counter()
    return lambda: time.perf_counter() - start


def unique() -> str:
    """A word that nobody else on this machine makes: of this process and this moment."""
    return f"{os.getpid():x}-{time.time_ns() & 0xFFFFFFFFFF:x}"
