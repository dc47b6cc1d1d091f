"""The old value that a new one belongs to when an object is updated, and whether it is unchanged.

Source: apiserver pkg/cel/common/{equality,maplist}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.field_errors import FieldError
from harness.kube.custom_resources.schema import Schema


class Correlation:
    """A new value with the old value at the same place. List elements correlate by key in lists of type map, else not.

    ``tolerated`` collects, for all places of one object together, the errors that do not count because nothing changed there.
    """

    __slots__ = ("_equal", "new", "old", "schema", "tolerated")

    def __init__(self, new: Any, old: Any, schema: Schema, tolerated: list[FieldError] | None = None) -> None:
        self.new = new
        self.old = old
        self.schema = schema
        self.tolerated: list[FieldError] = [] if tolerated is None else tolerated
        self._equal: bool | None = None

    def unchanged(self) -> bool:
        """Return whether old and new values are equal; never for keys that the schema does not define, such as those of metadata."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, Mapping):
            return len(new) == len(old) and all(
                (below := self.key(key)) is not None and below.unchanged() for key in new
            )
        if self.schema.list_type == "map" and isinstance(new, list) and isinstance(old, list):
            return len(new) == len(old) and all(
                (below := self.index(index)) is not None and below.unchanged() for index in range(len(new))
            )
        return same(new, old)

    def key(self, key: str) -> Correlation | None:
        """The correlation of a key, None when old or new lack it."""
        if not isinstance(self.old, Mapping) or not isinstance(self.new, Mapping):
            return None
        schema = self.schema.child(key)
        if schema is None or key not in self.old or key not in self.new:
            return None
        return Correlation(self.new[key], self.old[key], schema, self.tolerated)

    def index(self, index: int) -> Correlation | None:
        """The correlation of a list's element, None when there is no such old element or the list does not correlate."""
        items, old = self.schema.items, old_element(self.schema, self.new[index], self.old)
        return None if items is None or old is None else Correlation(self.new[index], old, items, self.tolerated)


def same(new: Any, old: Any) -> bool:
    """Deep equality of JSON values; true and 1 differ."""
    if isinstance(new, Mapping):
        return (
            isinstance(old, Mapping)
            and len(new) == len(old)
            and all(k in old and same(v, old[k]) for k, v in new.items())
        )
    if isinstance(new, list | tuple):
        return isinstance(old, list | tuple) and len(new) == len(old) and all(map(same, new, old))
    return isinstance(new, bool) == isinstance(old, bool) and bool(new == old)


def old_element(schema: Schema, element: Any, old: Any) -> Any:
    """The element of the old list with the same map keys as ``element`` (lists of type map only), else None."""
    if schema.list_type != "map" or not isinstance(element, Mapping) or not isinstance(old, list | tuple):
        return None
    keys = schema.list_map_keys
    if not all(key in element for key in keys):
        return None
    for candidate in old:
        if isinstance(candidate, Mapping) and all(
            key in candidate and same(candidate[key], element[key]) for key in keys
        ):
            return candidate
    return None
