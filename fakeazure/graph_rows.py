"""Earlier results of queries of Resource Graph: a resource that is the same since passes its filters, or fails them, as it did."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from fakeazure.store import Entry, Store

__all__ = ["GraphRows"]

_MOST_QUERIES = 8
"""The number of queries that are remembered: clients ask the same few again and again."""
_LONGEST = 4096
"""Characters of a query that is remembered: with those above it bounds the memory that queries take."""

Compiled = TypeVar("Compiled")
Row = Mapping[str, Any]
Judge = Callable[[Entry], Row | None]
"""The row of a resource, None for one that does not pass."""


class _Found:
    """The rows of one query as of a revision of the store, in its order; None for a resource that does not pass."""

    __slots__ = ("revision", "rows")

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.rows: dict[str, tuple[Entry, Row | None]] = {}


class GraphRows:
    """The rows of one world. Documents are replaced, never changed, so that an entry that is the very same makes the same row."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Found] = {}
        self._compiled: dict[str, Any] = {}

    @staticmethod
    def remembers(*texts: str) -> bool:
        """Return whether a query and its inputs are short enough to be remembered."""
        return sum(map(len, texts)) <= _LONGEST

    def compiled(self, query: str, compile_: Callable[[str], Compiled]) -> Compiled:
        """Return the query as `compile_` compiles it, or compiled it before."""
        compiled: Compiled | None = self._compiled.get(query)
        if compiled is None:
            compiled = compile_(query)
            if self.remembers(query):
                if len(self._compiled) >= _MOST_QUERIES:
                    self._compiled.clear()
                self._compiled[query] = compiled
        return compiled

    def passing(self, query: Hashable, store: Store, moment: float, judge: Judge) -> list[Row]:
        """The rows of the entries of a moment for which `judge` is true, in order; for one `query` it has to give the same result for
        the same entry."""
        result = self._known.pop(query, None)
        changes = store.since(result.revision) if result is not None and not store.lags else None
        if result is None or changes is None:
            result = self._looked(store, moment, judge, result)
        else:
            rows = result.rows
            for key, entry in changes:
                if entry is None:
                    rows.pop(key, None)  # one of its id that comes later stands at the end
                else:
                    rows[key] = entry, judge(entry)
            result.revision = store.revision
        if len(self._known) >= _MOST_QUERIES:
            self._known.clear()
        self._known[query] = result
        return [row for _, row in result.rows.values() if row is not None]

    def _looked(self, store: Store, moment: float, judge: Judge, before: _Found | None) -> _Found:
        """Looks at all entries, and judges those that are new."""
        judged_before = before.rows if before is not None else {}
        result = _Found(store.revision)
        for entry in store.as_of(moment):
            judged = judged_before.get(entry.id.key)
            if judged is None or judged[0] is not entry:
                judged = entry, judge(entry)
            result.rows[entry.id.key] = judged
        return result
