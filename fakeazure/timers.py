"""Virtual time: what the cloud will do later, in order, without reading a clock of its own.

The clock is given: a callable, or an object with `now()`, that returns seconds since the Unix epoch or an aware datetime.
Nothing here waits. The owner of the clock asks `next_due`, moves its clock there, and calls `run_until`; or it is told of
each new due time through `on_schedule` and puts that into its own queue.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeAlias

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""The start of a `ManualClock`: 2026-01-01T00:00:00Z."""


_TOLERANCE = 1e-6
"""Seconds by which a due time may lie ahead: seconds since the epoch are a float, exact to a quarter microsecond."""


class HasNow(Protocol):
    """A clock as an object."""

    def now(self) -> float | datetime:
        """Seconds since the epoch, or an aware datetime."""
        ...


ClockLike: TypeAlias = HasNow | Callable[[], float | datetime]


class MovableClock:
    """A clock that a world which is taken out again may move forward."""

    def now(self) -> float:
        """Seconds since the epoch."""
        raise NotImplementedError

    def move_to(self, moment: float) -> None:
        """Move forward to `moment`, seconds since the epoch; stay if that is past."""
        raise NotImplementedError


class ManualClock(MovableClock):
    """A clock that moves when told; the default of a cloud that is given none."""

    def __init__(self, start: float = START) -> None:
        """Stand at `start`, seconds since the epoch."""
        self._now = start

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Move forward and return the new time. ValueError for a negative step."""
        if seconds < 0:
            raise ValueError(f"a clock does not go back: {seconds}")
        self._now += seconds
        return self._now

    def move_to(self, moment: float) -> None:
        """Move forward to `moment`; stay if that is past."""
        self._now = max(self._now, moment)


def timestamp(moment: float) -> str:
    """A moment as ARM writes it: `2026-01-01T00:00:00.0000000+00:00`."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds")[:26] + "0+00:00"


class Timers:
    """A queue of (due time, action), run in order of due time, then of scheduling."""

    def __init__(self, clock: ClockLike) -> None:
        """Follow `clock`."""
        self._read = clock.now if hasattr(clock, "now") else clock
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._running_at: float | None = None
        self.hooks: list[Callable[[float], None]] = []
        self.failed: Callable[[Exception], None] | None = None
        """Takes what an action raises, so that the next one runs; without it that reaches the caller of `run_until`."""

    def now(self) -> float:
        """Seconds since the epoch; while a late action runs, the moment at which it was due."""
        if self._running_at is not None:
            return self._running_at
        moment = self._read()
        return moment.timestamp() if isinstance(moment, datetime) else float(moment)

    def on_schedule(self, hook: Callable[[float], None]) -> None:
        """Tell `hook` the due time of everything scheduled from now on."""
        self.hooks.append(hook)

    @property
    def running(self) -> bool:
        """Return whether an action runs now."""
        return self._running_at is not None

    def announce(self) -> None:
        """Tell the hooks the due time of everything that is queued already."""
        for due, _, _ in sorted(self._queue, key=lambda entry: entry[:2]):
            for hook in self.hooks:
                hook(due)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Run `action` `seconds` from now; at once if that is zero or less."""
        if seconds <= 0:
            action()
            return
        due = self.now() + seconds
        heapq.heappush(self._queue, (due, self._count, action))
        self._count += 1
        for hook in self.hooks:
            hook(due)

    def next_due(self) -> float | None:
        """When the next action is due; None if nothing is outstanding."""
        return self._queue[0][0] if self._queue else None

    def due(self) -> int:
        """The number of actions that are due now."""
        limit = self.now() + _TOLERANCE
        return sum(1 for moment, _, _ in self._queue if moment <= limit)

    def run_until(self, moment: float | None = None) -> int:
        """Run every action due at `moment` (now, if None) or before, also those that they schedule. Returns how many ran.

        Called from inside an action it does nothing: the outer call goes on in order. An action that raises is over; what is
        due behind it stays due.
        """
        if self._running_at is not None:
            return 0
        limit = (self.now() if moment is None else moment) + _TOLERANCE
        ran = 0
        try:
            while self._queue and self._queue[0][0] <= limit:
                self._running_at, _, action = heapq.heappop(self._queue)
                ran += 1
                try:
                    action()
                except Exception as error:
                    if self.failed is None:
                        raise
                    self.failed(error)
        finally:
            self._running_at = None
        return ran
