"""The taints that the autoscaler gives Nodes.

Sources: autoscaler utils/taints/taints.go (AddTaints, CleanTaints), core/scaledown/actuation/softtaint.go.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from harness.clusterautoscaler.taints import DELETION_CANDIDATE, TO_BE_DELETED, has_taint
from harness.engine.clock import Clock
from harness.engine.ports import View, Writer
from harness.kube.api.objects import Object, name_of, spec_of

__all__ = ["NodeMarks"]

_MOST_AT_ONCE = 10  # --max-bulk-soft-taint-count


class NodeMarks:
    """Marks of Nodes that go, and of those that may go soon."""

    def __init__(self, view: View, writer: Writer, clock: Clock) -> None:
        self._view, self._writer, self._clock = view, writer, clock

    def to_be_deleted(self, node: str) -> None:
        """Keep new pods away from a node that goes (MarkToBeDeleted, --cordon-node-before-terminating)."""
        self._add(node, TO_BE_DELETED, "NoSchedule", unschedulable=True)

    def stays(self, node: str) -> None:
        """Let pods onto a node again (CleanToBeDeleted)."""
        self._remove(node, TO_BE_DELETED, unschedulable=None)

    def candidates(self, nodes: Iterable[Object], unneeded: Container[str]) -> None:
        """Mark the unneeded ones among nodes, and take the mark from the others, so many at a time (UpdateSoftDeletionTaints)."""
        left = _MOST_AT_ONCE
        marked = [(node, has_taint(node, DELETION_CANDIDATE)) for node in nodes if not has_taint(node, TO_BE_DELETED)]
        for node, is_marked in sorted(marked, key=lambda row: not row[1]):
            name = name_of(node)
            if is_marked == (name in unneeded) or not left:
                continue
            left -= 1
            if is_marked:
                self._remove(name, DELETION_CANDIDATE)
            else:
                self._add(name, DELETION_CANDIDATE, "PreferNoSchedule")

    def _add(self, name: str, key: str, effect: str, **spec: object) -> None:
        node = self._view.get("Node", name)
        if node is not None:
            taint = {"key": key, "value": str(int(self._clock.unix)), "effect": effect}
            taints = [*(spec_of(node).get("taints") or ()), taint]
            self._writer.patch("Node", name, {"spec": {"taints": taints, **spec}})

    def _remove(self, name: str, key: str, **spec: object) -> None:
        node = self._view.get("Node", name)
        if node is not None:
            taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("key") != key]
            self._writer.patch("Node", name, {"spec": {"taints": taints or None, **spec}})
