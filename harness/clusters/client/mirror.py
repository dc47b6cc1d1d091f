"""A View of a cluster elsewhere: a local copy, fed by one watch for each kind and by our own writes.

Watches run on threads and only queue events; `pump` applies them on the caller's thread, in order of resourceVersions.
The writes of our own Writers are in the copy as soon as they return.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.clusters.client.connection import ClusterLost, Connection
from harness.clusters.client.paths import path_of
from harness.clusters.client.watch import Heard, Watch
from harness.clusters.memory.index import Index
from harness.clusters.memory.selection import by_fields, by_labels
from harness.engine.clock import SECOND, Clock, render
from harness.engine.ports import Change, ChangeType
from harness.kube.api.kinds import KINDS, Kind
from harness.kube.api.objects import Key, Object, is_held, metadata_of, spec_of
from harness.kube.api.status import ApiError, gone

__all__ = ["MIRRORED", "Mirror"]

MIRRORED: tuple[str, ...] = tuple(
    kind
    for kind, row in KINDS.items()
    if row.decides and kind not in ("ConfigMap", "Lease", "Secret", "Service", "ServiceAccount", "VolumeAttachment")
)
"""The watched kinds. Others are read from the server when they are needed."""


class Mirror:
    """The copy. With a `clock`, times of creation and deletion are those of the virtual clock when the object was first seen so."""

    def __init__(self, connection: Connection, *, kinds: Iterable[str] = MIRRORED, clock: Clock | None = None) -> None:
        self.revision = 0
        self._connection = connection
        self.clock = clock
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._order: dict[str, int] = {}
        self._index = Index()
        self._log: list[Change] = []
        self._dead: set[str] = set()
        self._hidden_pods: dict[str, Object] = {}
        self._stamps: dict[tuple[str, str], str] = {}
        self._subscribers: list[Callable[[Change], None]] = []
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._kinds = tuple(kinds)
        self._watches: dict[str, Watch] = {}
        self._lock = threading.RLock()
        self.seen = 0
        """The number of changes that were ever applied."""
        self.hidden: Callable[[Object], bool] = lambda obj: False
        """Whether an object is left out of the copy, as a part of the cluster itself. Its pods take room all the same (hidden_pods)."""
        self.serves_accounts = False
        """Whether namespaces get service accounts, without which a real API server takes no pods."""

    def start(self) -> None:
        """Begin to watch; return when every kind was listed once. Raises ApiError, ClusterLost."""
        for name in self._kinds:
            self.watch(name)

    def watch(self, kind: str) -> None:
        """Begin to watch a kind (again, after its definition was replaced); a kind that is not served is left out."""
        self.unwatch(kind)
        watch = Watch(self._connection, KINDS[kind], self._heard.put)
        try:
            self._apply(watch.list())
        except ApiError as error:
            if error.code != 404:
                raise
            return
        self._watches[kind] = watch
        watch.start()

    def unwatch(self, kind: str) -> None:
        """End the watch of a kind whose definition is about to go."""
        present = self._watches.pop(kind, None)
        if present is not None:
            present.stop()

    def watches(self, kind: str) -> bool:
        """Return whether a kind is watched: it is served, and not left out."""
        return kind in self._watches

    def stop(self) -> None:
        """End all watches."""
        for watch in self._watches.values():
            watch.stop()
        self._watches.clear()

    def hidden_pods(self, node: str) -> Sequence[Object]:
        """The cluster's own pods on a Node."""
        with self._lock:
            return [pod for pod in self._hidden_pods.values() if spec_of(pod).get("nodeName") == node]

    # The View port.

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object of this name, or None."""
        if kind not in self._watches and kind in KINDS:
            return self._live(kind, name, namespace)
        return self._objects.get(kind, {}).get((namespace, name))

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Sequence[Object]:
        """All objects of a kind in the order in which they came, filtered by namespace and selectors."""
        objects: Sequence[Object]
        if kind not in self._watches and kind in KINDS:
            objects = self._live_list(kind)
        else:
            objects = list(self._objects.get(kind, {}).values())
        if namespace is not None:
            objects = [obj for obj in objects if (metadata_of(obj).get("namespace") or "") == namespace]
        for predicate in (by_labels(labels), by_fields(fields)):
            if predicate is not None:
                objects = [obj for obj in objects if predicate(obj)]
        return objects

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        """The objects of a named index with this value."""
        return self._index.get(index, value)

    def exists(self, uid: str) -> bool:
        """Return whether an object of this uid is in the copy."""
        return uid in self._order

    def changes(self, since: int, kind: str | None = None) -> Iterator[Change]:
        """The changes after a resourceVersion that this mirror saw. Raises ApiError 410 for a time before it began."""
        if self._log and since + 1 < self._log[0].revision and since < self.revision and since != 0:
            raise gone(f"too old resource version: {since} ({self._log[0].revision})")
        for change in self._log:
            if change.revision > since and (kind is None or change.object["kind"] == kind):
                yield change

    # Feeding.

    def subscribe(self, receive: Callable[[Change], None]) -> None:
        """Call `receive` for every change from now on, on the thread that pumps or writes."""
        self._subscribers.append(receive)

    def unsubscribe(self) -> None:
        """Forget all subscribers."""
        self._subscribers.clear()

    def restart_log(self) -> None:
        """Drop the changes so far from the log of `changes`."""
        self._log.clear()

    def last(self, count: int) -> Sequence[Change]:
        """The last changes that were applied."""
        return self._log[-count:]

    def pump(self, seconds: float = 0.0) -> int:
        """Apply the events of the watches; wait up to `seconds` for the first. Return the number of changes. Returns
        the number of changes.

        Raises ClusterLost when a watch ended because the server is gone.
        """
        before = self.seen
        batch: list[Heard] = []
        try:
            batch.append(self._heard.get(timeout=seconds) if seconds > 0 else self._heard.get_nowait())
            while True:
                batch.append(self._heard.get_nowait())
        except queue.Empty:
            pass
        for heard in sorted(batch, key=lambda event: event.revision):
            if heard.lost is not None:
                raise ClusterLost(heard.lost)
            self._apply(heard)
        return self.seen - before

    def changed(self, kind: Kind, obj: Object) -> None:
        """Apply a write of this process before its watch event arrives."""
        if kind.kind not in self._watches:
            return
        meta = metadata_of(obj)
        obj = {**obj, "kind": kind.kind}
        if meta.get("deletionTimestamp") and not meta.get("deletionGracePeriodSeconds") and not is_held(obj):
            self._remove(kind, obj)
        else:
            self._put(kind, obj)

    def gone(self, kind: Kind, namespace: str, name: str) -> None:
        """Apply a deletion by this process before its watch event arrives."""
        last = self._objects.get(kind.kind, {}).get((namespace, name))
        if last is not None:
            self._remove(kind, last)

    def _apply(self, heard: Heard) -> None:
        if heard.all is not None:
            keep = {metadata_of(obj)["uid"] for obj in heard.all}
            for last in list(self._objects.get(heard.kind.kind, {}).values()):
                if last["metadata"]["uid"] not in keep and int(last["metadata"]["resourceVersion"]) <= heard.revision:
                    self._remove(heard.kind, last)
            for uid in [uid for uid in self._hidden_pods if heard.kind.kind == "Pod" and uid not in keep]:
                self._hidden_pods.pop(uid, None)
            for obj in sorted(heard.all, key=lambda obj: metadata_of(obj).get("creationTimestamp") or ""):
                self._put(heard.kind, obj)
            self.revision = max(self.revision, heard.revision)
        elif heard.object is not None:
            if heard.type == "DELETED":
                self._remove(heard.kind, heard.object)
            else:
                self._put(heard.kind, heard.object)

    def _put(self, kind: Kind, obj: Object) -> None:
        new = self._stamped(kind, obj)
        if self.hidden(new):
            if kind.kind == "Pod":
                self._hidden_pods[metadata_of(new)["uid"]] = new
            return
        meta = new["metadata"]
        with self._lock:
            objects = self._objects.setdefault(kind.kind, {})
            slot = (meta.get("namespace") or "", meta["name"])
            old = objects.get(slot)
            revision = int(meta["resourceVersion"])
            if meta["uid"] in self._dead or (old is not None and int(old["metadata"]["resourceVersion"]) >= revision):
                return
            if old is not None and old["metadata"]["uid"] != meta["uid"]:
                self._remove(kind, old)
                old = None
            objects[slot] = new
            self._order[meta["uid"]] = revision
            self._index.put((kind.kind, *slot), old, new)
            self._tell(Change(ChangeType.ADDED if old is None else ChangeType.MODIFIED, new, old, revision))

    def _remove(self, kind: Kind, last: Object) -> None:
        with self._lock:
            meta = metadata_of(last)
            self._hidden_pods.pop(meta["uid"], None)
            slot = (meta.get("namespace") or "", meta["name"])
            old = self._objects.get(kind.kind, {}).get(slot)
            self._dead.add(meta["uid"])
            if old is None or old["metadata"]["uid"] != meta["uid"]:
                return
            del self._objects[kind.kind][slot]
            self._order.pop(meta["uid"], None)
            self._index.put((kind.kind, *slot), old, None)
            # the answer to a deletion may have no resourceVersion any more
            revision = max(int(meta.get("resourceVersion") or 0), int(old["metadata"]["resourceVersion"]))
            self._tell(Change(ChangeType.DELETED, self._stamped(kind, last), old, revision))

    def _tell(self, change: Change) -> None:
        self.revision = max(self.revision, change.revision)
        self._log.append(change)
        self.seen += 1
        for receive in self._subscribers:
            receive(change)

    def _stamped(self, kind: Kind, obj: Object) -> dict[str, Any]:
        """The object with its kind (lists leave it out), without managedFields, in virtual time."""
        meta = {key: value for key, value in metadata_of(obj).items() if key != "managedFields"}
        if self.clock is not None:
            uid = meta["uid"]
            if "creationTimestamp" in meta:
                meta["creationTimestamp"] = self._stamps.setdefault((uid, "created"), self.clock.timestamp())
            if "deletionTimestamp" in meta:
                due = self.clock.now + int(meta.get("deletionGracePeriodSeconds") or 0) * SECOND
                meta["deletionTimestamp"] = self._stamps.setdefault((uid, "deleted"), render(due))
        return {"apiVersion": kind.api_version, **obj, "kind": kind.kind, "metadata": meta}

    def _live(self, kind: str, name: str, namespace: str) -> Object | None:
        try:
            return self._stamped(KINDS[kind], self._connection.request("GET", path_of(KINDS[kind], namespace, name)))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def _live_list(self, kind: str) -> Sequence[Object]:
        try:
            answer = self._connection.request("GET", path_of(KINDS[kind]))
        except ApiError as error:
            if error.code == 404:
                return []
            raise
        return [self._stamped(KINDS[kind], item) for item in answer["items"]]

    def keys(self, kind: str) -> Sequence[Key]:
        """The keys of all objects of a kind."""
        return [Key(kind, namespace, name) for namespace, name in self._objects.get(kind, {})]
