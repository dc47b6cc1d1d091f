"""What was said and written in a world: Events, logs, refusals, fields, conditions and labels, each line with its time."""

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
        found = [fact for fact in self._trace.facts_of(EventTold) if chosen(fact)]
        return [
            cut(f"at {duration_text(one.t)} {one.type} {one.reason} of {one.object}: {one.message}") for one in found
        ]

    def log(self, chosen: Callable[[LogTold], bool]) -> list[str]:
        """Lines of the controllers' logs."""
        found = [fact for fact in self._trace.facts_of(LogTold) if chosen(fact)]
        return [
            cut(f"at {duration_text(one.t)} {one.level} {one.controller}: {one.message} {dict(one.values)}")
            for one in found
        ]

    def label(self, node: str, key: str) -> list[str]:
        """Who wrote a label of a Node, one after the other."""
        found = [fact for fact in self._trace.facts_of(LabelWrite) if fact.node == node and fact.key == key]
        return [
            f"at {duration_text(one.t)} {one.by}{f' ({one.from_})' if one.from_ else ''} {one.kind} {one.value or ''}".rstrip()
            for one in found
        ]

    def rejections(self, chosen: Callable[[str], bool] = lambda name: True) -> list[str]:
        """What was refused, of objects chosen by their `Kind/name`."""
        found = [fact for fact in self._trace.facts_of(Refused) if chosen(fact.object)]
        return [cut(f"at {duration_text(one.t)} {one.object} was refused by {one.layer}: {one.text}") for one in found]

    def knows(self, name: str) -> bool:
        """Whether an object was ever there, by `Kind/name`."""
        applied = any(fact.object == name for fact in self._trace.facts_of(Applied))
        return applied or any(fact.object == name for fact in self._trace.facts_of(Write))

    def made(self, name: str) -> list[str]:
        """Who made an object and deleted it, and where the file has it."""
        given = [
            f"{name} was {'deleted' if one.verb == 'delete' else 'applied'} at {duration_text(one.t)}"
            + (f" ({one.file}:{one.line})" if one.file else "")
            for one in self._trace.facts_of(Applied)
            if one.object == name and not one.refused
        ]
        return (
            given[-_FEW:]
            or [
                f"{name} was made by {one.by} at {duration_text(one.t)}"
                for one in self._trace.facts_of(Write)
                if one.object == name and one.verb == "create" and not one.error
            ][:1]
        )

    def fields(self, name: str, path: str) -> list[str]:
        """Who wrote a field of an object, one after the other; of one that nobody changed, who made the object."""
        found = [
            cut(
                f"at {duration_text(fact.t)} {fact.by} wrote {name} {each}: {'nothing' if value is None else json.dumps(value)}"
            )
            for fact in self._trace.facts_of(Write)
            if fact.object == name and not fact.error
            for each, value in fact.changed.items()
            if each == path or each.startswith(f"{path}.") or path.startswith((f"{each}.", f"{each}["))
        ]
        return found or [f"nobody changed {path} of it; {line}" for line in self.made(name)]

    def conditions(self, name: str, types: Iterable[str]) -> list[str]:
        """How conditions of an object, or of all whose `Kind/name` begins so, went."""
        wanted = set(types)
        return [
            cut(
                f"at {duration_text(one.t)} {one.object} {one.type} is {one.status}"
                f"{f', {one.reason}' if one.reason and one.reason != one.type else ''}{f': {one.message}' if one.message else ''}"
            )
            for one in self._trace.facts_of(Condition)
            if one.type in wanted and (one.object == name or (name.endswith("/") and one.object.startswith(name)))
        ]

    def event_reasons(self) -> list[str]:
        """Of each Event its source, kind of object and reason, to be counted."""
        return [
            f"{one.reason} of a {one.object.partition('/')[0]}, by {one.source}"
            for one in self._trace.facts_of(EventTold)
        ]

    def log_messages(self) -> list[str]:
        """Of each line that was logged its level, controller and message, to be counted."""
        return [f"{one.level} {one.controller}: {one.message}" for one in self._trace.facts_of(LogTold)]


def cut(text: str, end: str = "") -> str:
    """The text as far as anybody reads it, then `end`."""
    room = _LONGEST - len(end)
    return (text if len(text) <= room else text[: room - 1] + "…") + end
