"""Node groups that are left alone for a while after a scale-up that failed, longer each time.

Source: autoscaler utils/backoff/exponential_backoff.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.profile import Profile
from harness.engine.clock import nanoseconds
from lazyrecords import dataclass

__all__ = ["Backoff"]


@dataclass(frozen=True, slots=True)
class _Failure:
    seconds: float
    until: int
    at: int


class Backoff:
    """The groups whose last scale-up failed."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._failures: dict[str, _Failure] = {}

    def fail(self, group: str, now: int) -> None:
        """Note a failure; one that comes while the group is left alone anyway makes the time no longer."""
        before, seconds = self._failures.get(group), self._profile.initial_node_group_backoff
        if before is not None:
            seconds = before.seconds
            if before.until < now:
                seconds = min(2 * seconds, self._profile.max_node_group_backoff)
        self._failures[group] = _Failure(seconds, now + nanoseconds(seconds), now)

    def is_backed_off(self, group: str, now: int) -> bool:
        """Return whether a group is left alone now."""
        failure = self._failures.get(group)
        return failure is not None and failure.until >= now

    def forget(self, now: int) -> None:
        """Forget failures of long ago (RemoveStaleBackoffData)."""
        reset = nanoseconds(self._profile.node_group_backoff_reset_timeout)
        self._failures = {group: failure for group, failure in self._failures.items() if failure.at + reset >= now}

    @property
    def until(self) -> int | None:
        """The first moment at which a group is asked again; None where none is left alone."""
        return min((failure.until for failure in self._failures.values()), default=None)
