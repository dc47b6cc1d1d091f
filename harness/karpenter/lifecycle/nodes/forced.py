"""Forceful disruption (expiration, repair): no simulation, no budgets, and no replacement beforehand."""

from __future__ import annotations

from harness.engine.clock import Clock
from harness.engine.disruptions import DELETE, Disrupted, Disruption
from harness.engine.names import NodeClaimName, NodeName
from harness.engine.ports import Sink, View
from harness.karpenter.lifecycle.names import nodepool_of, nodes_of
from harness.kube.api.objects import Object, labels_of, name_of
from harness.kube.scheduling.pods import is_reschedulable

__all__ = ["forcefully"]


def forcefully(view: View, sink: Sink, clock: Clock, claim: Object, reason: str) -> None:
    """Reports to the sink that a NodeClaim was deleted for this reason (Expired, Unhealthy)."""
    nodes = nodes_of(view, claim)
    speaker = nodes[0] if nodes else claim
    node = NodeName(name_of(nodes[0]) if nodes else "")
    pods = sum(is_reschedulable(pod) for pod in view.indexed("pods-by-node", node)) if node else 0
    gone = Disrupted(NodeClaimName(name_of(claim)), node, nodepool_of(claim), dict(labels_of(speaker)), pods=pods)
    sink.disrupted(Disruption(clock.seconds, reason, DELETE, (gone,), ended=clock.seconds))
