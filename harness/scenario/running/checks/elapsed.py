"""`elapsed`: how much virtual time lies between two moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from harness.engine.clock import EPOCH, SECOND
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.expectations import Elapsed, Moment
from harness.scenario.running.checks.azure import call_differences
from harness.scenario.running.matching import differences, said, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


@dataclass(frozen=True, slots=True)
class _Event:
    """When something happened, in seconds since the start of the world, and its number in the journal that has it."""

    seconds: float
    journal: str
    number: int


def check(body: Elapsed, entry: Entry, run: Run) -> Iterator[Verdict]:
    """One verdict: the time between both moments."""
    start = _Event(0.0, "", 0)
    if body.from_ is not None:
        first = next(_events(body.from_, run), None)
        if first is None:
            yield Verdict.failed(entry.label, entry.mark("from"), _told(body.from_), "no such moment")
            return
        start = first
    end = next((event for event in _events(body.to, run) if _follows(event, start)), None)
    if end is None:
        yield Verdict.failed(entry.label, entry.mark("to"), _told(body.to), "no such moment from there on")
        return
    seconds = round(end.seconds - start.seconds, 6)
    yield Verdict.of(entry.label, entry.mark("takes"), differences(body.takes, seconds, "seconds"))


def _events(moment: Moment, run: Run) -> Iterator[_Event]:
    """All events that a moment describes, oldest first."""
    if moment.call is not None:
        began = EPOCH.timestamp()
        for call in run.world.cloud.journal:
            if not call_differences(moment.call, call):
                yield _Event(call.time - began, "azure", call.number)
        return
    happened = _created if moment.created is not None else _bound
    reference = moment.created or moment.bound or ""
    for number, write in enumerate(run.world.journal):
        if write.error is None and _is(write.key, reference) and happened(write):
            yield _Event(write.at / SECOND, "cluster", number)


def _created(write: Any) -> bool:
    return bool(write.verb == "create" and not write.subresource)


def _bound(write: Any) -> bool:
    return bool(_node_of(write.after) and not _node_of(write.before))


def _follows(event: _Event, start: _Event) -> bool:
    if event.journal == start.journal:
        return event.number > start.number
    return event.seconds >= start.seconds


def _is(key: Any, reference: str) -> bool:
    kind, namespace, name = split_reference(reference)
    return key.kind == kind and fnmatchcase(key.name, name) and key.namespace in ("", namespace or "default")


def _node_of(pod: Any) -> str:
    return str(((pod or {}).get("spec") or {}).get("nodeName") or "")


def _told(moment: Moment) -> str:
    return show({key: said(value) if key == "call" else value for key, value in said(moment).items()})
