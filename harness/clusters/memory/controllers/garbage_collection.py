"""The garbage collector of kube-controller-manager, and the one for pods: objects that go with their owners, and pods with their node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.engine.clock import Clock
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer, of_types
from harness.kube.api.objects import (
    Object,
    conditions_of,
    is_held,
    is_terminating,
    name_of,
    namespace_of,
    owners_of,
    uid_of,
)
from harness.kube.scheduling.pods import is_terminal

__all__ = ["GarbageCollector"]

_LOST: Mapping[str, str] = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByPodGC",
    "message": "PodGC: node no longer exists",
}


_OWNERS = (
    *("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob"),
    *("Pod", "Node", "NodePool", "NodeClaim"),
)


class GarbageCollector:
    """Deletes objects whose owners are all gone, and the pods of nodes that are gone."""

    name = "garbage-collector"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, clock: Clock, owners: Callable[[str], bool]) -> None:
        self._clock = clock
        self._view = view
        self._writer = writer
        self._exists = owners

    def watches(self) -> Mapping[str, Router]:
        """Watch deletions of anything that can own, and of nodes."""
        return dict.fromkeys(_OWNERS, self._keys)

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
                if is_held(pod) and not is_terminal(pod):
                    self._mark_failed(pod)
                self._delete(pod, 0)
        return DONE

    def _mark_failed(self, pod: Object) -> None:
        """Say the end of a pod whose kubelet is gone, for which somebody waits (pkg/controller/podgc/gc_controller.go)."""
        others = [present for present in conditions_of(pod) if present["type"] != _LOST["type"]]
        lost = {**_LOST, "lastTransitionTime": self._clock.timestamp()}
        status = {"status": {"phase": "Failed", "conditions": [*others, lost]}}
        self._writer.patch("Pod", name_of(pod), status, namespace=namespace_of(pod), subresource="status")

    def _delete(self, obj: Object, grace: int | None) -> None:
        if grace is None and is_terminating(obj):
            return
        self._writer.delete(
            obj["kind"], name_of(obj), namespace=namespace_of(obj), grace_period_seconds=grace, uid=uid_of(obj)
        )
