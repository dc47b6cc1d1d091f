"""`kubectl drain` while a world runs: evictions, and again those that a budget forbids.

Source: kubectl pkg/drain/drain.go (evictPods), filters.go; as with --ignore-daemonsets --delete-emptydir-data --force.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import Sink, View, Writer
from harness.kube.api.objects import (
    Object,
    annotations_of,
    controller_of,
    is_terminating,
    name_of,
    namespace_of,
    uid_of,
)
from harness.kube.api.status import ApiError

__all__ = ["Drains"]

_MIRROR = "kubernetes.io/config.mirror"
_RETRY_SECONDS = 5.0


class Drains:
    """The drains that are under way. A key is the name of a node."""

    name = "kubectl-drain"
    backoff = (5.0, 5.0)

    def __init__(self, engine: Engine, view: View, writer: Writer, sink: Sink) -> None:
        self._engine = engine
        self._view = view
        self._writer = writer
        self._sink = sink
        self._left: dict[str, set[str]] = {}
        """The uids of the pods that are still to be evicted, by node: those that were there when the drain began."""

    def watches(self) -> Mapping[str, Router]:
        """Watch nothing: the start of a drain queues its key."""
        return {}

    def start(self, node: str) -> None:
        """Begin to evict the pods that are on a node now."""
        pods = self._view.indexed("pods-by-node", node)
        self._left[node] = {uid_of(pod) for pod in pods if _goes(pod)}
        self._engine.enqueue(self, node)

    def under_way(self, node: str) -> bool:
        """Return whether pods of a node are still to be evicted."""
        return node in self._left

    def reconcile(self, key: Hashable) -> Result:
        """Evict the pods that may go; look again while a budget forbids the rest."""
        node = str(key)
        left = self._left.get(node, set())
        present = {uid_of(pod): pod for pod in self._view.indexed("pods-by-node", node)}
        for uid in list(left):
            if uid not in present or is_terminating(present[uid]) or self._evict(present[uid]):
                left.discard(uid)
        if left:
            return Result(_RETRY_SECONDS, Wait.POLL)
        self._left.pop(node, None)
        return DONE

    def _evict(self, pod: Object) -> bool:
        """Return whether the pod goes, or is gone."""
        name, namespace = name_of(pod), namespace_of(pod)
        try:
            self._writer.evict(name, namespace)
        except ApiError as error:
            if error.code == 404:
                return True
            text = f'error when evicting pods/"{name}" -n "{namespace}" (will retry after 5s): {error.message}'
            self._sink.log("error", self.name, text)
            return False
        return True


def _goes(pod: Object) -> bool:
    """Return whether a drain evicts the pod: neither a DaemonSet's nor a static one."""
    controller = controller_of(pod)
    return _MIRROR not in annotations_of(pod) and (controller is None or controller["kind"] != "DaemonSet")
