"""What was said instead: Events, lines of logs, series of a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harness.explain.traces.why import listed
from harness.scenario.running.reasons.asked import ITEMS, Asked, fits, same_object

if TYPE_CHECKING:
    from harness.trace.facts import EventTold, LogTold

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """What fits in part, nearest first; where nothing does, what there was, counted."""
    return {"events": _events, "log": _log, "metric": _metric}[asked.kind](asked)


def _events(asked: Asked) -> list[str]:
    body = asked.body

    def about(event: EventTold) -> bool:
        return body.of is None or same_object(event.object, body.of)

    said = {"reason": body.reason, "type": body.type, "message": body.message}
    for wanted in (said, {"reason": body.reason}, {"message": body.message}):
        if any(value is not None for value in wanted.values()) or wanted is said:

            def suits(event: EventTold, wanted: Mapping[str, object] = wanted) -> bool:
                return about(event) and fits(wanted, event)

            found = asked.why.events(suits)
            if found:
                return listed(found, ITEMS, "events")
    of = [] if body.of is None else listed(asked.why.events(about), ITEMS, "events")
    return of or _counted("Events", asked.why.event_reasons()) or ["there were no Events at all"]


def _log(asked: Asked) -> list[str]:
    body = asked.body
    said = {"message": body.message, "level": body.level, "controller": body.controller}
    for wanted in (said, {"message": body.message}, {"controller": body.controller}):
        if any(value is not None for value in wanted.values()):

            def suits(line: LogTold, wanted: Mapping[str, object] = wanted) -> bool:
                return fits(wanted, line)

            found = asked.why.log(suits)
            if found:
                return listed(found, ITEMS, "lines")
    return _counted("lines", asked.why.log_messages()) or ["nothing was logged"]


def _counted(noun: str, told: Iterable[str]) -> list[str]:
    counts = Counter(told)
    return listed([f"{number} × {text}" for text, number in counts.most_common()], ITEMS, f"kinds of {noun}")


def _metric(asked: Asked) -> list[str]:
    name = asked.body.name
    try:
        series = [metric for metric in asked.run.world.metrics() if metric.name == name]
    except LookupError:  # Karpenter is somebody else
        series = []
    told = listed([f"{one} is {one.value:g}" for one in series], ITEMS, "series")
    if "disrupt" in name or "consolidation" in name:
        return [*told, *asked.why.departures()]
    if "pods_count" in name:
        return [*told, *asked.why.last_words()]
    return [*told, *listed(asked.why.claims(), ITEMS, "NodeClaims")]
