"""Reads of the objects of one cluster: by name, kind, selector and index, and as a log for watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.clusters.memory.index import Index
from harness.clusters.memory.selection import by_fields, by_labels
from harness.engine.ports import Change
from harness.kube.api.objects import Key, Object
from harness.kube.api.status import gone


class Objects:
    """The View port. ``log_limit``: the number of changes that the log keeps; all of them when None."""

    def __init__(self, log_limit: int | None = None) -> None:
        self.revision = 0
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._lists: dict[str, Sequence[Object]] = {}
        """All objects of a kind, as long as none of them changes."""
        self._uids: set[str] = set()
        self._index = Index()
        self._log: list[Change] = []
        self._log_limit = log_limit
        self._subscribers: list[Callable[[Change], None]] = []

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object of this name, or None."""
        try:
            return self._objects[kind].get((namespace, name))
        except KeyError:
            return None

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Sequence[Object]:
        """All objects of a kind in order of creation, filtered by namespace and selectors."""
        objects = self._lists.get(kind)
        if objects is None:
            objects = self._lists[kind] = list(self._objects.get(kind, {}).values())
        if namespace is not None:
            objects = [obj for obj in objects if (obj["metadata"].get("namespace") or "") == namespace]
        if labels is None and fields is None:
            return objects
        for predicate in (by_labels(labels), by_fields(fields)):
            if predicate is not None:
                objects = [obj for obj in objects if predicate(obj)]
        return objects

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        """The objects of a named index with this value."""
        return self._index.get(index, value)

    def exists(self, uid: str) -> bool:
        """Return whether an object of this uid is stored."""
        return uid in self._uids

    def changes(self, since: int, kind: str | None = None) -> Iterator[Change]:
        """The watch events after a resourceVersion. Raises ApiError 410 when the log no longer reaches back."""
        first = self._log[0].revision if self._log else self.revision + 1
        if since + 1 < first:
            raise gone(f"too old resource version: {since} ({first})")
        low, high = 0, len(self._log)
        while low < high:
            middle = (low + high) // 2
            if self._log[middle].revision <= since:
                low = middle + 1
            else:
                high = middle
        for change in self._log[low:]:
            if kind is None or change.object["kind"] == kind:
                yield change

    def adopt(self, obj: Object) -> None:
        """Put in an object that existed before the first write, without an event."""
        kind, meta = obj["kind"], obj["metadata"]
        slot = (meta.get("namespace") or "", meta["name"])
        self._objects.setdefault(kind, {})[slot] = obj
        self._lists.pop(kind, None)
        self._uids.add(meta["uid"])
        self._index.put((kind, *slot), None, obj)

    def subscribe(self, receive: Callable[[Change], None]) -> None:
        """Call `receive` for every change from now on, before the write returns."""
        self._subscribers.append(receive)

    def _keep(self, key: Key, old: Object | None, new: Object | None) -> None:
        """Put one object in the place of another; None is no object."""
        objects = self._objects.setdefault(key.kind, {})
        self._lists.pop(key.kind, None)
        if new is not None:
            objects[(key.namespace, key.name)] = new
            self._uids.add(new["metadata"]["uid"])
        elif old is not None:
            del objects[(key.namespace, key.name)]
            self._uids.discard(old["metadata"]["uid"])
        self._index.put((key.kind, key.namespace, key.name), old, new)

    def _tell(self, change: Change) -> None:
        self._log.append(change)
        if self._log_limit is not None and len(self._log) > self._log_limit:
            del self._log[: len(self._log) - self._log_limit]
        for receive in self._subscribers:
            receive(change)
