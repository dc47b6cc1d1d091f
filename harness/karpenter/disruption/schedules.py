"""Windows of disruption budgets, by cron schedules in UTC.

Source: core ``pkg/apis/v1/nodepool.go`` (Budget.IsActive).
"""

from datetime import timedelta

from harness.engine.clock import EPOCH
from harness.kube.go.cron import Schedule

__all__ = ["is_within"]


def is_within(schedule: str, duration: int, now: int) -> bool:
    """Return whether a window that opens by the schedule and lasts `duration` nanoseconds is open at `now` (nanoseconds since `EPOCH`).

    It is open at its first instant and closed at its last. A schedule without a moment in five years counts as always open, as upstream.
    Raises ScheduleError.
    """
    moment = EPOCH + timedelta(microseconds=now // 1000)
    hit = Schedule.parse(schedule).next_after(moment - timedelta(microseconds=duration // 1000))
    return hit is None or hit <= moment
