"""The history of a world: Events, logs, refusals, fields, conditions and labels, each line with its time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from harness.trace import Trace
from harness.trace.facts import Applied, Condition, EventTold, LabelWrite, LogTold, Refused, Write
from harness.wording import duration_text

__all__ = ["History", "cut"]

_LONGEST = 300
_FEW = 3


class History:
    """Reads a trace. Each method returns lines, in order of time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def events(self, chosen: Callable[[EventTold], bool]) -> list[str]:
        """Events, each with its object."""
        events = [fact for fact in self._trace.facts_of(EventTold) if chosen(fact)]
        return [
            cut(f"at {duration_text(event.t)} {event.type} {event.reason} of {event.object}: {event.message}")
            for event in events
        ]

    def log(self, chosen: Callable[[LogTold], bool]) -> list[str]:
        """Lines of the controllers' logs."""
        lines = [fact for fact in self._trace.facts_of(LogTold) if chosen(fact)]
        return [
            cut(f"at {duration_text(line.t)} {line.level} {line.controller}: {line.message} {dict(line.values)}")
            for line in lines
        ]

    def label(self, node: str, key: str) -> list[str]:
        """Return the writes of a label of a Node, one after the other."""
        writes = [fact for fact in self._trace.facts_of(LabelWrite) if fact.node == node and fact.key == key]
        return [
            f"at {duration_text(write.t)} {write.by}{f' ({write.from_})' if write.from_ else ''} {write.kind} {write.value or ''}".rstrip()
            for write in writes
        ]

    def rejections(self, chosen: Callable[[str], bool] = lambda name: True) -> list[str]:
        """Return the refusals of objects chosen by their `Kind/name`."""
        refusals = [fact for fact in self._trace.facts_of(Refused) if chosen(fact.object)]
        return [
            cut(f"at {duration_text(refusal.t)} {refusal.object} was refused by {refusal.layer}: {refusal.text}")
            for refusal in refusals
        ]

    def knows(self, name: str) -> bool:
        """Return whether an object was ever there, by `Kind/name`."""
        applied = any(fact.object == name for fact in self._trace.facts_of(Applied))
        return applied or any(fact.object == name for fact in self._trace.facts_of(Write))

    def made(self, name: str) -> list[str]:
        """Return who made an object and deleted it, and its place in the file."""
        lines = [
            f"{name} was {'deleted' if application.verb == 'delete' else 'applied'} at {duration_text(application.t)}"
            + (f" ({application.file}:{application.line})" if application.file else "")
            for application in self._trace.facts_of(Applied)
            if application.object == name and not application.refused
        ]
        return (
            lines[-_FEW:]
            or [
                f"{name} was made by {write.by} at {duration_text(write.t)}"
                for write in self._trace.facts_of(Write)
                if write.object == name and write.verb == "create" and not write.error
            ][:1]
        )

    def fields(self, name: str, path: str) -> list[str]:
        """Return the writes of a field of an object, one after the other; if nobody changed it, who made the object."""
        lines = [
            cut(
                f"at {duration_text(fact.t)} {fact.by} wrote {name} {path_changed}: {'nothing' if value is None else json.dumps(value)}"
            )
            for fact in self._trace.facts_of(Write)
            if fact.object == name and not fact.error
            for path_changed, value in fact.changed.items()
            if path_changed == path
            or path_changed.startswith(f"{path}.")
            or path.startswith((f"{path_changed}.", f"{path_changed}["))
        ]
        return lines or [f"nobody changed {path} of it; {line}" for line in self.made(name)]

    def conditions(self, name: str, types: Iterable[str]) -> list[str]:
        """Return the course of conditions of an object, or of all whose `Kind/name` begins so."""
        wanted = set(types)
        return [
            cut(
                f"at {duration_text(state.t)} {state.object} {state.type} is {state.status}"
                f"{f', {state.reason}' if state.reason and state.reason != state.type else ''}"
                f"{f': {state.message}' if state.message else ''}"
            )
            for state in self._trace.facts_of(Condition)
            if state.type in wanted and (state.object == name or (name.endswith("/") and state.object.startswith(name)))
        ]

    def event_reasons(self) -> list[str]:
        """Return source, kind of object and reason of each Event, to be counted."""
        return [
            f"{event.reason} of a {event.object.partition('/')[0]}, by {event.source}"
            for event in self._trace.facts_of(EventTold)
        ]

    def log_messages(self) -> list[str]:
        """Return level, controller and message of each line that was logged, to be counted."""
        return [f"{line.level} {line.controller}: {line.message}" for line in self._trace.facts_of(LogTold)]


def cut(text: str, end: str = "") -> str:
    """The text as far as anybody reads it, then `end`."""
    room = _LONGEST - len(end)
    return (text if len(text) <= room else text[: room - 1] + "…") + end
