"""Every requested write of the store, with its user: the evidence for who wrote a label."""

from __future__ import annotations

from collections.abc import Iterator

from harness.clusters.memory.request import Request
from harness.engine.ports import Change, ChangeType, Identity
from harness.kube.api.objects import Key, Object
from harness.kube.api.status import ApiError
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: `before` and `after` are the stored objects around it; a refused one has `error` and no `after`.

    `object` is the sent object (whole for create and update), None for deletions.
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
    """The entries of one store, in order.

    Entries are made, and sorted by object, at the first read: most worlds never read any. Until then the times, the
    requests and their outcomes stand side by side, so that a write makes no object for the journal alone.
    """

    __slots__ = ("_by_key", "_entries", "_outcomes", "_requests", "_sorted", "_times")

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._times: list[int] = []
        self._requests: list[Request] = []
        self._outcomes: list[Change | tuple[int, ApiError]] = []
        self._by_key: dict[Key, list[Entry]] = {}
        self._sorted = 0

    def record(self, entry: Entry) -> None:
        """Append an entry."""
        self.entries.append(entry)

    def written(self, at: int, request: Request, change: Change) -> None:
        """Note the change of a request, in nanoseconds of virtual time."""
        self._times.append(at)
        self._requests.append(request)
        self._outcomes.append(change)

    def refused(self, at: int, request: Request, revision: int, error: ApiError) -> None:
        """Note the refusal of a request, and the cluster's revision at that time."""
        self._times.append(at)
        self._requests.append(request)
        self._outcomes.append((revision, error))

    @property
    def entries(self) -> list[Entry]:
        """All of them, oldest first."""
        if self._requests:
            self._entries.extend(map(_entry, self._times, self._requests, self._outcomes))
            for record in (self._times, self._requests, self._outcomes):
                record.clear()
        return self._entries

    def entries_about(self, key: Key) -> tuple[Entry, ...]:
        """The requests that concerned this object, in order."""
        entries = self.entries
        for entry in entries[self._sorted :]:
            self._by_key.setdefault(entry.key, []).append(entry)
        self._sorted = len(entries)
        return tuple(self._by_key.get(key, ()))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self._entries) + len(self._requests)


def _entry(at: int, request: Request, outcome: Change | tuple[int, ApiError]) -> Entry:
    about = at, request.identity, request.verb, request.key, request.subresource
    if isinstance(outcome, Change):
        after = None if outcome.type is ChangeType.DELETED else outcome.object
        return Entry(outcome.revision, *about, outcome.old, after, request.object)
    revision, error = outcome
    return Entry(revision, *about, request.old, None, request.object, error)
