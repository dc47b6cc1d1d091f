"""When the disruption controller has to look again although no object has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from harness.engine.clock import EPOCH, SECOND, parse
from harness.karpenter.disruption.schedules import Schedule, ScheduleError
from harness.karpenter.labels.core import DO_NOT_DISRUPT
from harness.kube.api.objects import Object, annotations_of, spec_of, status_of
from harness.kube.go.durations import DurationError, parse_duration

__all__ = ["budget_changes", "protection_ends"]


def protection_ends(pods: Sequence[Object], now: int) -> Iterator[int]:
    """The moments after `now` at which a pod's do-not-disrupt, given as a duration, ends."""
    for pod in pods:
        text = annotations_of(pod).get(DO_NOT_DISRUPT)
        started = status_of(pod).get("startTime")
        if text is None or text == "true" or started is None:
            continue
        try:
            end = parse(started) + parse_duration(text)
        except DurationError:
            continue
        if end > now:
            yield end


def budget_changes(nodepools: Sequence[Object], now: int) -> Iterator[int]:
    """The moments after `now` at which a budget's window next opens, or the open one may close."""
    for pool in nodepools:
        for budget in (spec_of(pool).get("disruption") or {}).get("budgets") or ():
            if budget.get("schedule") is None:
                continue
            try:
                schedule = Schedule.parse(budget["schedule"])
                lasting = parse_duration(budget["duration"]) if budget.get("duration") is not None else 0
            except (ScheduleError, DurationError):
                continue
            for shift in (0, lasting):
                moment = EPOCH + timedelta(microseconds=(now - shift) // 1000)
                hit = schedule.next_after(moment)
                if hit is not None:
                    yield round((hit - EPOCH).total_seconds()) * SECOND + shift
