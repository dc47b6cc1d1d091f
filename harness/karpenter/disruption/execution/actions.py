"""The changes of the disruption controller in the cluster: taints, conditions, replacements, deletions.

Core ``pkg/controllers/state/statenode.go`` (RequireNoScheduleTaint, ClearNodeClaimsCondition), ``pkg/controllers/disruption/queue.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from harness.engine.clock import Clock
from harness.engine.names import NodeClaimName
from harness.engine.ports import Sink, Writer
from harness.engine.ports import View as ClusterView
from harness.karpenter.disruption.turn import DISRUPTION_REASON, Refusal, Unmarked
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodeclaims.creation import NodeClaimRefused
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted, with_disrupted, without_disrupted
from harness.karpenter.requirement import EmptyRange
from harness.karpenter.scheduling import PlannedNodeClaim, SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object, condition, is_terminating, metadata_of, name_of, uid_of
from harness.kube.api.status import ApiError, ignoring
from harness.kube.scheduling.taints import Taint

__all__ = ["ClusterActions"]


Create = Callable[[PlannedNodeClaim], Object]
"""Creates a NodeClaim. Raises NodeClaimRefused, EmptyRange."""


class ClusterActions:
    """The changes of a turn of the controller in a cluster (TurnActions), and those of its queue of commands (QueueActions)."""

    def __init__(
        self, view: ClusterView, writer: Writer, sink: Sink, clock: Clock, marks: Marks, create: Create
    ) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._marks = marks
        self._create = create

    def release(self, nodes: Iterable[StateNode]) -> None:
        """Remove the taint and, of initialized nodes, the condition DisruptionReason. Raises ApiError."""
        for node in nodes:
            if node.node is not None and node.nodeclaim is not None:
                self._untaint(name_of(node.node))
                if node.initialized:
                    self._set_reason(name_of(node.nodeclaim), None)

    def take_back(self, nodes: Sequence[StateNode]) -> None:
        """Do as `release`; the nodes are no longer marked for deletion. Raises ApiError."""
        self.release(nodes)
        self._marks.unmark(NodeClaimName(name_of(node.nodeclaim)) for node in nodes if node.nodeclaim is not None)

    def mark_disrupted(self, node: StateNode, reason: str) -> None:
        """Taints the Node, and sets the condition DisruptionReason on its NodeClaim. Raises Unmarked."""
        current = self._view.get("Node", name_of(node.node or {}))
        try:
            if current is not None and not is_disrupted(current):
                self._set_taints(current, with_disrupted(current))
            self._set_reason(name_of(node.nodeclaim or {}), reason)
        except ApiError as error:
            raise Unmarked("" if error.code == 409 else f"tainting nodes, {error.message}") from error

    def create(self, planned: PlannedNodeClaim, reason: str) -> str:
        """Create a replacement and return its name. Raises Refusal."""
        try:
            return name_of(self._create(planned))
        except NodeClaimRefused as error:
            self._sink.rejected(error.rejections)
            raise Refusal(str(error)) from error
        except EmptyRange as panic:
            raise Refusal(f"panic: {panic}") from panic

    def mark_for_deletion(self, nodes: Sequence[StateNode]) -> None:
        """Marks nodes for deletion: the scheduler no longer counts on their room."""
        self._marks.mark(NodeClaimName(name_of(node.nodeclaim or {})) for node in nodes)

    def nominate(self, node: StateNode) -> None:
        """Nominates a node for pods: for a while it is not disrupted."""
        self._marks.nominate(node.provider_id)

    def nodeclaim(self, name: str) -> Object | None:
        """A replacement, None once it is gone."""
        return self._view.get("NodeClaim", name)

    def delete(self, nodeclaim: str) -> None:
        """Delete a NodeClaim, if there still is one. Raises ApiError."""
        claim = self._view.get("NodeClaim", nodeclaim)
        if claim is None or is_terminating(claim):
            return
        with ignoring(404, 409):
            self._writer.delete("NodeClaim", nodeclaim, uid=uid_of(claim))

    def say(self, *events: SchedulingEvent) -> bool:
        """Publishes events about objects that exist. Returns whether none of them was dropped."""
        heard = True
        for kind, name, type, reason, message, dedupe_seconds in events:
            namespace, _, own = name.rpartition("/")
            obj = self._view.get(kind, own, namespace)
            heard &= obj is not None and self._sink.event(obj, type, reason, message, dedupe_seconds=dedupe_seconds)
        return heard

    def _untaint(self, name: str) -> None:
        node = self._view.get("Node", name)
        if node is None or not is_disrupted(node) or is_terminating(node):
            return
        self._set_taints(node, without_disrupted(node) or None)

    def _set_taints(self, node: Object, taints: Sequence[Taint] | None) -> None:
        version = metadata_of(node)["resourceVersion"]
        patch = {"spec": {"taints": taints}, "metadata": {"resourceVersion": version}}
        with ignoring(404):
            self._writer.patch("Node", name_of(node), patch)

    def _set_reason(self, name: str, reason: str | None) -> None:
        claim = self._view.get("NodeClaim", name)
        if claim is None or (reason is None and condition(claim, DISRUPTION_REASON) is None):
            return
        conditions = Conditions(claim, NODECLAIM, self._clock.timestamp())
        changed = (
            conditions.clear(DISRUPTION_REASON)
            if reason is None
            else conditions.set(DISRUPTION_REASON, "True", reason, reason)
        )
        if not changed:
            return
        with ignoring(404):
            self._writer.patch("NodeClaim", name, {"status": {"conditions": conditions.items}}, subresource="status")
