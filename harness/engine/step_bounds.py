"""Bounds of steps: a run ends where too many come within an hour of virtual time, or within one call."""

from __future__ import annotations

from harness.engine.clock import SECOND
from harness.wording import duration_text
from lazyrecords import dataclass

__all__ = ["ALL_STEPS", "STEPS_OF_AN_HOUR", "StepBounds", "StepCount"]

STEPS_OF_AN_HOUR, ALL_STEPS = "steps", "all-steps"
"""Names of the limits (harness/limits.py): of steps within an hour of virtual time, but for idle looks, and of all of one call."""
_HOUR = 3600 * SECOND
_IDLE = SECOND


@dataclass(frozen=True, slots=True)
class StepBounds:
    """The most steps within an hour of virtual time, whether it stands still or they come one after another, and of one call.

    A repeated look (Wait.POLL) that writes nothing, a second or more after its key was queued, does not count for the hour: a thousand
    objects that wait are looked at a thousand times every few seconds, and time passes.
    """

    of_an_hour: int = 200_000
    of_all: int = 10_000_000


class StepCount:
    """The steps of one call, which began at `now` after `steps`."""

    __slots__ = ("_bounds", "_hour", "_hour_from", "_start", "_start_from", "reached")

    def __init__(self, bounds: StepBounds, now: int, steps: int) -> None:
        self._bounds = bounds
        self._start = self._hour = now
        self._start_from = self._hour_from = steps
        self.reached = ""
        """The name of the limit that was reached, empty where none was."""

    def pass_time(self, now: int, steps: int) -> None:
        """Begin a new hour where one has passed."""
        if now - self._hour >= _HOUR:
            self._hour, self._hour_from = now, steps

    def look(self, after: int) -> None:
        """Leave the last step, an idle look, out of the hour's count if its key had waited for long enough, in nanoseconds."""
        if after >= _IDLE:
            self._hour_from += 1

    def check(self, now: int, steps: int) -> str:
        """Return the text about a limit that is reached, empty where none is."""
        if steps - self._hour_from >= self._bounds.of_an_hour:
            self.reached = STEPS_OF_AN_HOUR
            return f"{self._bounds.of_an_hour} steps within {duration_text((now - self._hour) / SECOND)}"
        if steps - self._start_from >= self._bounds.of_all:
            self.reached = ALL_STEPS
            return f"{self._bounds.of_all} steps in {duration_text((now - self._start) / SECOND)}"
        return ""
