"""When the disruption controller has to look again although no object has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from harness.engine.clock import EPOCH, SECOND, parse
from harness.karpenter.labels.core import DO_NOT_DISRUPT
from harness.karpenter.scheduling.nodes.fleet import Fleet
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered
from harness.kube.api.objects import Object, annotations_of, spec_of, status_of
from harness.kube.go.cron import Schedule, ScheduleError
from harness.kube.go.durations import DurationError, parse_duration

__all__ = ["budget_changes", "protection_ends"]


def protection_ends(fleet: Fleet, now: int) -> Iterator[int]:
    """The moments after `now` at which a pod's do-not-disrupt, given as a duration, ends."""
    return (end for end in _protection_ends(fleet) if end > now)


@remembered
def _protection_ends(fleet: Fleet) -> Sequence[int]:
    on_nodes = [end for machine_ends in fleet.having(_protection_ends_on).values() for end in machine_ends]
    elsewhere = [end for pod in fleet.strays() for end in _protection_end(pod)]
    return [*on_nodes, *elsewhere]


def _protection_ends_on(node: StateNode) -> Sequence[int]:
    return [end for pod in node.placed for end in _protection_end(pod)]


def _protection_end(pod: Object) -> Iterator[int]:
    text = annotations_of(pod).get(DO_NOT_DISRUPT)
    if text is None or text == "true" or (started := status_of(pod).get("startTime")) is None:
        return
    try:
        yield parse(started) + parse_duration(text)
    except DurationError:
        return


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
