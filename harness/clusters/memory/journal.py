"""Every write that the store was asked for, with who asked: the evidence for who wrote a label."""

from __future__ import annotations

from collections.abc import Iterator

from harness.clusters.memory.request import Request
from harness.engine.ports import Identity
from harness.kube.api.objects import Key, Object
from harness.kube.api.status import ApiError
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: `before` and `after` are the stored objects around it; a refused one has `error` and no `after`.

    `object` is what was sent (whole for create and update), None for deletions.
    """

    revision: int
    at: int
    identity: Identity
    verb: str
    key: Key
    subresource: str
    before: Object | None
    after: Object | None
    object: Object | None = None
    error: ApiError | None = None


_Noted = tuple[int, int, Request, Object | None, Object | None, ApiError | None]
"""Revision, time and request of an entry that nobody has asked for, the stored objects around it, and the error."""


class Journal:
    """The entries of one store, in order. They are made, and sorted by object, when somebody asks for them: most worlds are never asked."""

    __slots__ = ("_by_key", "_entries", "_noted", "_sorted")

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._noted: list[_Noted] = []
        self._by_key: dict[Key, list[Entry]] = {}
        self._sorted = 0

    def record(self, entry: Entry) -> None:
        """Appends an entry."""
        self.entries.append(entry)

    def note(self, noted: _Noted) -> None:
        """Appends what an entry will be made of."""
        self._noted.append(noted)

    @property
    def entries(self) -> list[Entry]:
        """All of them, oldest first."""
        if self._noted:
            self._entries.extend(
                Entry(
                    revision,
                    at,
                    asked.identity,
                    asked.verb,
                    asked.key,
                    asked.subresource,
                    before,
                    after,
                    asked.object,
                    error,
                )
                for revision, at, asked, before, after, error in self._noted
            )
            self._noted.clear()
        return self._entries

    def of(self, key: Key) -> tuple[Entry, ...]:
        """The requests that concerned this object, in order."""
        entries = self.entries
        for entry in entries[self._sorted :]:
            self._by_key.setdefault(entry.key, []).append(entry)
        self._sorted = len(entries)
        return tuple(self._by_key.get(key, ()))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self._entries) + len(self._noted)
