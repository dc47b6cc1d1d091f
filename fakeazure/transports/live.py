"""Real time for a served world: the wall clock, and a thread that lets things end when they are due."""

from __future__ import annotations

import threading
import time
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from fakeazure.timers import MovableClock
from plainlines import print_line

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fakeazure.cloud import FakeAzure

_IDLE = 3600.0
_AFTER_MISHAP = 1.0
"""Seconds of the wall clock until the pump tries again."""


def wall_time() -> float:
    """Seconds since the epoch in real time, with which clients compare the times of their tokens."""
    return time.time()


class WallClock(MovableClock):
    """The real-time clock, `speed` times as fast from its start on."""

    def __init__(self, speed: float = 1.0) -> None:
        """Start now. ValueError for a speed that is not positive."""
        if speed <= 0:
            raise ValueError(f"time does not pass at speed {speed}")
        self.speed = speed
        self._start = wall_time()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._start + (wall_time() - self._start) * self.speed

    def move_to(self, moment: float) -> None:
        """Go on from `moment`, seconds since the epoch; stay if that is past."""
        self._start += max(0.0, moment - self.now())

    def wait(self, seconds: float) -> float:
        """Return the time that a wait of `seconds` on this clock takes on the wall."""
        return seconds / self.speed


class Served(Protocol):
    """A cloud that several threads use, and what they hold meanwhile."""

    @property
    def cloud(self) -> FakeAzure: ...
    @property
    def lock(self) -> AbstractContextManager[object]: ...


def report(doing: str, error: Exception) -> None:
    """Say on stderr that something raised what it should not have: one line, with the place."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"
    print_line(f"fakeazure: {doing}: {type(error).__name__} at {where}: {str(error)[:200]}", error=True)


class Pump:
    """Runs what is due, when it is due, so that events come without a request; also a context manager.

    Nothing that an action raises ends it: that is reported, and the next action runs.
    """

    def __init__(self, front: Served, clock: WallClock) -> None:
        """Drive the cloud behind `front`, whose clock is `clock`."""
        self._front = front
        self._clock = clock
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="fakeazure pump", daemon=True)
        front.cloud.on_schedule(lambda due: self._wake.set())
        front.cloud.on_failed_action(lambda error: report("what was due", error))

    def _run(self) -> None:
        while not self._stopped:
            try:
                pause = self._turn()
            except Exception as error:
                report("the pump", error)
                pause = _AFTER_MISHAP
            self._wake.wait(pause)
            self._wake.clear()

    def _turn(self) -> float:
        """Run what is due. Returns the seconds of the wall clock until more is."""
        with self._front.lock:
            self._front.cloud.run_until()
            due = self._front.cloud.next_due()
        return _IDLE if due is None else min(_IDLE, max(0.0, self._clock.wait(due - self._clock.now())))

    def __enter__(self) -> Pump:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._stopped = True
        self._wake.set()
        self._thread.join(timeout=5)
