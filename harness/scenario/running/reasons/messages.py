"""Other messages: Events, lines of logs, series of a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harness.explain.traces.why import listed
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation, fits, same_object

if TYPE_CHECKING:
    from harness.trace.facts import EventTold, LogTold

__all__ = ["failure_lines"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return messages that fit in part, nearest first; where none does, all messages, counted."""
    return {"events": _events, "log": _log, "metric": _metric}[failure.kind](failure)


def _events(failure: FailedExpectation) -> list[str]:
    body = failure.body

    def about(event: EventTold) -> bool:
        return body.of is None or same_object(event.object, body.of)

    conditions = {"reason": body.reason, "type": body.type, "message": body.message}
    for wanted in (conditions, {"reason": body.reason}, {"message": body.message}):
        if any(value is not None for value in wanted.values()) or wanted is conditions:

            def suits(event: EventTold, wanted: Mapping[str, object] = wanted) -> bool:
                return about(event) and fits(wanted, event)

            lines = failure.why.events(suits)
            if lines:
                return listed(lines, ITEMS, "events")
    of = [] if body.of is None else listed(failure.why.events(about), ITEMS, "events")
    return of or _counted("Events", failure.why.event_reasons()) or ["there were no Events at all"]


def _log(failure: FailedExpectation) -> list[str]:
    body = failure.body
    conditions = {"message": body.message, "level": body.level, "controller": body.controller}
    for wanted in (conditions, {"message": body.message}, {"controller": body.controller}):
        if any(value is not None for value in wanted.values()):

            def suits(line: LogTold, wanted: Mapping[str, object] = wanted) -> bool:
                return fits(wanted, line)

            lines = failure.why.log(suits)
            if lines:
                return listed(lines, ITEMS, "lines")
    return _counted("lines", failure.why.log_messages()) or ["nothing was logged"]


def _counted(noun: str, texts: Iterable[str]) -> list[str]:
    counts = Counter(texts)
    return listed([f"{number} × {text}" for text, number in counts.most_common()], ITEMS, f"kinds of {noun}")


def _metric(failure: FailedExpectation) -> list[str]:
    name = failure.body.name
    try:
        series = [metric for metric in failure.run.world.metrics() if metric.name == name]
    except LookupError:  # Karpenter is somebody else
        series = []
    lines = listed([f"{metric} is {metric.value:g}" for metric in series], ITEMS, "series")
    if "disrupt" in name or "consolidation" in name:
        return [*lines, *failure.why.departures()]
    if "pods_count" in name:
        return [*lines, *failure.why.last_words()]
    return [*lines, *listed(failure.why.claims(), ITEMS, "NodeClaims")]
