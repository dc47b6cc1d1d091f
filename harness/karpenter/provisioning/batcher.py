"""The batch window, in which triggers are collected before a simulation (core pkg/controllers/provisioning/batcher.go)."""

from __future__ import annotations

from harness.engine.clock import LONG_AGO, Clock, nanoseconds

IDLE_SECONDS = 1.0
MAX_SECONDS = 10.0


class Batcher:
    """One window at a time: it ends `idle` seconds after the last new trigger, at the latest `longest` seconds after the first."""

    __slots__ = ("_busy", "_clock", "_ends", "_idle", "_limit", "_max", "_seen")

    def __init__(self, clock: Clock, idle: float = IDLE_SECONDS, longest: float = MAX_SECONDS) -> None:
        self._clock = clock
        self._idle = nanoseconds(idle)
        self._max = nanoseconds(longest)
        self._seen: set[str] = set()
        self._ends: int | None = None
        self._limit = self._busy = LONG_AGO

    def trigger(self, uid: str) -> bool:
        """Count a trigger, once for each uid. Return whether it opened a window; the caller then waits for its end."""
        if uid in self._seen:
            return False
        self._seen.add(uid)
        now = max(self._clock.now, self._busy)
        if self._ends is None:
            self._limit = now + self._max
            self._ends = min(now + self._idle, self._limit)
            return True
        self._ends = min(now + self._idle, self._limit)
        return False

    def left(self) -> int:
        """Nanoseconds until the window ends; 0 when it is over, or none is open."""
        return max(0, self._ends - self._clock.now) if self._ends is not None else 0

    def close(self) -> None:
        """End the window: the next trigger opens another."""
        self._ends = None
        self._seen.clear()

    def pause(self, seconds: float) -> None:
        """A simulation takes so many seconds: triggers during that time open a window that begins at its end."""
        self._busy = self._clock.now + nanoseconds(seconds)
