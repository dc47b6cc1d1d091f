"""The garbage collector of kube-controller-manager, and the one for pods: objects that go with their owners, and pods with their node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer, of_types
from harness.kube.api.objects import Object, is_terminating, name_of, namespace_of, owners_of, uid_of

__all__ = ["GarbageCollector"]


class GarbageCollector:
    """Deletes objects whose owners are all gone, and the pods of nodes that are gone."""

    name = "garbage-collector"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, owners: Callable[[str], bool]) -> None:
        self._view = view
        self._writer = writer
        self._exists = owners

    def watches(self) -> Mapping[str, Router]:
        """Watch deletions of anything that can own, and of nodes."""
        kinds = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod", "Node", "NodePool", "NodeClaim")
        return dict.fromkeys(kinds, self._keys)

    @of_types(ChangeType.DELETED)
    def _keys(self, change: Change) -> Iterable[Hashable]:
        return ((uid_of(change.object), name_of(change.object) if change.object["kind"] == "Node" else ""),)

    def reconcile(self, key: Hashable) -> Result:
        """Delete the dependents of one owner, and the pods of one node."""
        assert isinstance(key, tuple)
        uid, node = key
        for dependent in self._view.indexed("owned-by", uid):
            if all(ref["uid"] == uid or not self._exists(ref["uid"]) for ref in owners_of(dependent)):
                self._delete(dependent, None)
        if node and self._view.get("Node", node) is None:
            for pod in self._view.indexed("pods-by-node", node):
                self._delete(pod, 0)
        return DONE

    def _delete(self, obj: Object, grace: int | None) -> None:
        if grace is None and is_terminating(obj):
            return
        self._writer.delete(
            obj["kind"], name_of(obj), namespace=namespace_of(obj), grace_period_seconds=grace, uid=uid_of(obj)
        )
