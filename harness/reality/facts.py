"""The facts of a Node or a NodeClaim, by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from harness.kube.api.objects import Object, is_mapping, mapping_in
from lazyrecords import dataclass

__all__ = ["ABSENT", "Comparison", "Fact", "State", "facts_of"]

Fact: TypeAlias = tuple[str, str, tuple[str | int, ...]]
"""A field, its value, and its path in the object."""


class State(StrEnum):
    """The agreement of a value of the cluster with ours."""

    EQUAL = "equal"
    DIFFERENT = "different"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One fact: the field of an object, its value in the dump, ours, and where it stands (`FILE:LINE:COLUMN`).

    `why` says why the values cannot be compared; `within` is the bound by which they are taken to be equal, None where they are the same.
    """

    object: str
    field: str
    place: str
    theirs: str
    ours: str
    state: State
    why: str = ""
    within: float | None = None

    def value(self) -> dict[str, Any]:
        """For JSON."""
        value = {"object": self.object, "field": self.field, "place": self.place, "state": str(self.state)}
        more = {"within": self.within} if self.within is not None else {}
        return {**value, "theirs": self.theirs, "ours": self.ours, **({"why": self.why} if self.why else {}), **more}


ABSENT = "(absent)"
_NAMED_LISTS: Mapping[str, tuple[str, ...]] = {
    "taints": ("key", "effect"),
    "startupTaints": ("key", "effect"),
    "requirements": ("key", "operator"),
    "addresses": ("type",),
    "conditions": ("type",),
}
"""Lists whose entries have a name, and the fields that make it; an entry without the first of them is no fact."""


def facts_of(obj: Object) -> Iterator[Fact]:
    """Yield every fact of a Node or a NodeClaim: labels, annotations, finalizers, and all that spec and status say.

    A field that is empty is none, nor are moments and messages of conditions. No two facts have one field.
    """
    seen: dict[str, int] = {}
    for field, value, path in _all_facts(obj):
        seen[field] = seen.get(field, 0) + 1
        yield field if seen[field] == 1 else f"{field}#{seen[field]}", value, path


def _all_facts(obj: Object) -> Iterator[Fact]:
    meta = mapping_in(obj.get("metadata"))
    for name in ("labels", "annotations"):
        for key, value in mapping_in(meta.get(name)).items():
            yield f"{name}.{key}", _text(value), ("metadata", name, key)
    finalizers = meta.get("finalizers")
    for number, finalizer in enumerate(finalizers if isinstance(finalizers, list | tuple) else ()):
        yield f"finalizers.{_text(finalizer)}", "there", ("metadata", "finalizers", number)
    for side in ("spec", "status"):
        for name, value in mapping_in(obj.get(side)).items():
            yield from _facts_in(str(name), value, (side, name))


def _facts_in(name: str, value: Any, path: tuple[str | int, ...]) -> Iterator[Fact]:
    """Yield the facts of one field of spec or status: its entries where it has some, else itself."""
    if name in _NAMED_LISTS:
        for number, entry in enumerate(value if isinstance(value, list | tuple) else ()):
            if is_mapping(entry) and entry.get(_NAMED_LISTS[name][0]):
                yield from _facts_of_entry(name, entry, (*path, number))
    elif is_mapping(value):
        for key, item in value.items():
            if item not in (None, ""):
                yield f"{name}.{key}", _text(item), (*path, key)
    elif value not in (None, "", [], ()):
        yield name, _text(value), path


def _facts_of_entry(name: str, entry: Object, path: tuple[str | int, ...]) -> Iterator[Fact]:
    field = f"{name}.{':'.join(str(entry.get(part)) for part in _NAMED_LISTS[name])}"
    if name == "conditions":
        yield field, _text(entry.get("status")), (*path, "status")
        if entry.get("reason"):
            yield f"{field}.reason", _text(entry["reason"]), (*path, "reason")
    elif name == "addresses":
        yield field, "there", path
    elif name == "requirements":
        yield field, _text(entry.get("values") or ()), path
    else:
        yield field, _text(entry.get("value") or ""), path


def _text(value: Any) -> str:
    """Return a text as it is, everything else as JSON in one line."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), sort_keys=True, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return what stands for a value that is none of JSON's: a map of its own kind as a dict, all else as text."""
    return dict(value) if is_mapping(value) else str(value)
