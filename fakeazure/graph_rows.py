"""What a query of Resource Graph found before: a resource that is the same since passes its filters, or fails them, as it did."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from fakeazure.store import Entry

__all__ = ["GraphRows"]

_MOST_QUERIES = 8
"""That are remembered: clients ask the same few again and again."""

Row = Mapping[str, Any]
Judge = Callable[[Entry], Row | None]
"""The row of a resource, None for one that does not pass."""


class GraphRows:
    """Of one world. Documents are replaced, never changed, so that an entry that is the very same makes the same row."""

    def __init__(self) -> None:
        self._known: dict[Hashable, dict[str, tuple[Entry, Row | None]]] = {}

    def passing(self, query: Hashable, entries: Iterable[Entry], judge: Judge) -> list[Row]:
        """The rows of the entries for which `judge` is true, in order; for one `query` it has to give the same result for the same
        entry."""
        before = self._known.pop(query, {})
        if len(self._known) >= _MOST_QUERIES:
            self._known.clear()
        now = self._known[query] = {}
        for entry in entries:
            key = entry.id.key
            judged = before.get(key)
            if judged is None or judged[0] is not entry:
                judged = entry, judge(entry)
            now[key] = judged
        return [row for _, row in now.values() if row is not None]
