"""The node lifecycle controller of kube-controller-manager: the NoSchedule taints that follow from a node's spec and conditions.

Source: kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go (doNoScheduleTaintingPass).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from harness.engine.clock import Clock
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import View, Writer, key_by_name
from harness.kube.api.labels import NOT_READY, UNSCHEDULABLE
from harness.kube.api.objects import Object, condition, conditions_of, spec_of
from harness.kube.scheduling.taints import NO_SCHEDULE, TAINT_OF_READY

__all__ = ["NodeLifecycle"]

_OF_CONDITIONS: Mapping[tuple[str, str], str] = {
    **{("Ready", status): key for status, key in TAINT_OF_READY.items()},
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
"""The key of the taint that a condition of this status brings."""
_MANAGED = frozenset({*_OF_CONDITIONS.values(), UNSCHEDULABLE})


class NodeLifecycle:
    """Keeps the NoSchedule taints of a node in step with its conditions and its cordon."""

    name = "node-lifecycle"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock

    def watches(self) -> Mapping[str, Router]:
        """Watch Nodes."""
        return {"Node": key_by_name}

    def reconcile(self, key: Hashable) -> Result:
        """Add or remove the NoSchedule taints of one node."""
        node = self._view.get("Node", str(key))
        if node is None:
            return DONE
        wanted = dict.fromkeys(_wanted(node))
        taints = list(spec_of(node).get("taints") or ())
        present = {taint["key"] for taint in taints if _is_managed(taint)}
        if present == wanted.keys():
            return DONE
        now = self._clock.timestamp()
        left = [taint for taint in taints if not _is_managed(taint) or taint["key"] in wanted]
        added = [{"key": key, "effect": NO_SCHEDULE, "timeAdded": now} for key in wanted if key not in present]
        self._writer.patch("Node", str(key), {"spec": {"taints": [*left, *added] or None}})
        return DONE


def _is_managed(taint: Mapping[str, str]) -> bool:
    return taint.get("effect") == NO_SCHEDULE and taint.get("key") in _MANAGED


def _wanted(node: Object) -> Iterator[str]:
    """Yield the keys of the taints that a node has to have."""
    if condition(node, "Ready") is None:  # its kubelet has not been heard of yet
        yield NOT_READY
    for present in conditions_of(node):
        key = _OF_CONDITIONS.get((str(present.get("type")), str(present.get("status"))))
        if key is not None:
            yield key
    if spec_of(node).get("unschedulable"):
        yield UNSCHEDULABLE
