"""Every write that the store was asked for, with who asked: the evidence for who wrote a label."""

from __future__ import annotations

from collections.abc import Iterator

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


class Journal:
    """The entries of one store, in order. They are sorted by object when somebody asks for one's: most worlds are never asked."""

    __slots__ = ("_by_key", "_sorted", "entries")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._by_key: dict[Key, list[Entry]] = {}
        self._sorted = 0

    def record(self, entry: Entry) -> None:
        """Appends an entry."""
        self.entries.append(entry)

    def of(self, key: Key) -> tuple[Entry, ...]:
        """The requests that concerned this object, in order."""
        for entry in self.entries[self._sorted :]:
            self._by_key.setdefault(entry.key, []).append(entry)
        self._sorted = len(self.entries)
        return tuple(self._by_key.get(key, ()))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
