"""Every ARM resource of a world by its id, in order of creation. Documents are replaced, never changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from lazyrecords import dataclass

_CHANGES = 4096
"""The number of changes that are remembered for readers who bring their results up to date."""


DELETING = "Deleting"


def marked(document: Document) -> bool:
    """Return whether a resource is being deleted."""
    return bool((document.get("properties") or {}).get("provisioningState") == DELETING)


@dataclass(frozen=True, slots=True)
class Entry:
    """One resource: its id in Azure's spelling, its ARM document, when it was made and last changed (seconds since the epoch)."""

    id: ResourceId
    document: Document
    created: float = 0.0
    changed: float = 0.0


class Store:
    """Resources by id, compared without case."""

    def __init__(self, now: Callable[[], float] | None = None, removed: Callable[[str], None] | None = None) -> None:
        """Start empty; `now` tells the time at which resources are made and changed.

        `removed` is called with the key of each resource that is taken away.
        """
        self._now = now or (lambda: 0.0)
        self._removed = removed or (lambda key: None)
        self._entries: dict[str, Entry] = {}
        self._by_type: dict[str, dict[str, None]] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._clock: Callable[[], float] | None = None
        self._lag = 0.0
        self._history: list[tuple[float, str, Entry | None]] = []
        self._most_history = _CHANGES
        self._changes: deque[tuple[str, Entry | None]] = deque(maxlen=_CHANGES)
        self.revision = 0
        """Counts the changes."""

    def get(self, id_: ResourceId | str) -> Entry | None:
        """A resource; None if there is none of this id."""
        return self._entries.get(id_.key if isinstance(id_, ResourceId) else id_.lower())

    def put(self, id_: ResourceId, document: Document) -> Entry:
        """Add a resource, or replace the document of one that keeps its id and its place."""
        entry, now = self._entries.get(id_.key), self._now()
        return self._keep(
            Entry(id_, document, now, now) if entry is None else Entry(entry.id, document, entry.created, now)
        )

    def _keep(self, entry: Entry) -> Entry:
        id_ = entry.id
        self._entries[id_.key] = entry
        self._by_type.setdefault(id_.type.lower(), {})[id_.key] = None
        if id_.parent is not None:
            self._children.setdefault(id_.parent.key, {})[id_.key] = None
        self._note(id_.key, entry)
        return entry

    def remove(self, id_: ResourceId) -> None:
        """Take a resource away with everything nested in it; nothing happens if it is not there."""
        for key in self._take(id_):
            self._removed(key)

    def _take(self, id_: ResourceId) -> list[str]:
        """Take a resource away with everything nested in it. Returns the keys of what is gone."""
        entry = self._entries.pop(id_.key, None)
        if entry is None:
            return []
        self._by_type[id_.type.lower()].pop(id_.key, None)
        if id_.parent is not None:
            siblings = self._children.get(id_.parent.key, {})
            siblings.pop(id_.key, None)
            if not siblings:
                self._children.pop(id_.parent.key, None)
        self._note(id_.key, None)
        nested = [
            key for child in tuple(self._children.pop(id_.key, ())) for key in self._take(self._entries[child].id)
        ]
        return [id_.key, *nested]

    def list(self, type_: str, *, subscription: str | None = None, group: str | None = None) -> Iterator[Entry]:
        """The resources of a type (`Microsoft.Compute/virtualMachines`), oldest first."""
        for key in tuple(self._by_type.get(type_.lower(), ())):
            entry = self._entries[key]
            if subscription is not None and entry.id.subscription.lower() != subscription.lower():
                continue
            if group is not None and entry.id.group.lower() != group.lower():
                continue
            yield entry

    def children(self, parent: ResourceId, type_: str) -> Iterator[Entry]:
        """The resources of a nested type directly under `parent`."""
        for key in tuple(self._children.get(parent.key, ())):
            entry = self._entries[key]
            if entry.id.types[-1].lower() == type_.lower():
                yield entry

    def remember(self, now: Callable[[], float], lag: float) -> None:
        """Keep the changes from here on with their times, for readers that are at most `lag` seconds behind."""
        self._clock, self._lag = now, lag
        self._history = [(now(), key, entry) for key, entry in self._entries.items()]

    def as_of(self, moment: float) -> Iterator[Entry]:
        """The store as it was at `moment` (seconds since the epoch), within the lag of `remember`; as it is where that was not called."""
        yield from self.all() if self._clock is None else self._past(moment).values()

    def _past(self, moment: float) -> dict[str, Entry]:
        past: dict[str, Entry] = {}
        for at, key, entry in self._history:
            if at > moment:
                break
            if entry is None:
                past.pop(key, None)
            else:
                past[key] = entry
        return past

    @property
    def count(self) -> int:
        """Return how many resources there are."""
        return len(self._entries)

    @property
    def lags(self) -> bool:
        """Return whether `as_of` may differ from the present resources."""
        return self._clock is not None

    def since(self, revision: int) -> Iterator[tuple[str, Entry | None]] | None:
        """The changes after a revision, oldest first: a key with its entry, or with None where it was removed. None: too many."""
        first = len(self._changes) - (self.revision - revision)
        return islice(self._changes, first, None) if first >= 0 else None

    def _note(self, key: str, entry: Entry | None) -> None:
        self.revision += 1
        self._changes.append((key, entry))
        if self._clock is not None:
            self._history.append((self._clock(), key, entry))
            if len(self._history) > self._most_history:
                self._shorten(self._clock() - self._lag)

    def _shorten(self, moment: float) -> None:
        """Forget the changes that were overtaken before `moment`: no reader is so far behind."""
        recent = [change for change in self._history if change[0] > moment]
        self._history = [*((moment, key, entry) for key, entry in self._past(moment).items()), *recent]
        self._most_history = 2 * len(self._history) + _CHANGES

    @property
    def history(self) -> Sequence[tuple[float, str, Entry | None]]:
        """The changes that readers who lag may still have to see, with their times in seconds since the epoch: a key with its entry, None
        where it was removed."""
        return self._history

    def replace(self, entries: Sequence[Entry], history: Sequence[tuple[float, str, Entry | None]]) -> None:
        """Put other resources in the place of all; `history` is theirs, and begins now if it is empty."""
        for entry in self.all():
            self._take(entry.id)
        for entry in entries:
            self._keep(entry)
        if self._clock is not None:
            self.remember(self._clock, self._lag)
            self._history = list(history) or self._history

    def all(self) -> Iterator[Entry]:
        """Everything, oldest first."""
        yield from tuple(self._entries.values())
