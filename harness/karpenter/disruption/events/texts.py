"""The events that the disruption controller publishes about pods, nodes, NodeClaims and NodePools; the texts are core's.

Core ``pkg/controllers/disruption/events/events.go``.
"""

import math
from collections.abc import Iterator

from harness.engine.names import NodeClaimName, NodeName
from harness.karpenter.disruption.events.nodes import NodeEvents, Text, of_node
from harness.karpenter.lifecycle.nominations import NOMINATED, nomination
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import name_of

__all__ = [
    "STAYS",
    "approved",
    "blocked",
    "candidate",
    "failed_scheduling",
    "launching",
    "nodepool_approved",
    "nodepool_blocked",
    "nominated",
    "rejected",
    "sentence",
    "terminating",
    "unconsolidatable",
    "waiting_readiness",
]

_BLOCKED, _UNCONSOLIDATABLE = "DisruptionBlocked", "Unconsolidatable"

STAYS = frozenset({_BLOCKED, _UNCONSOLIDATABLE, "ConsolidationRejected", "NodeRepairBlocked"})
"""Reasons of events that say why a node is kept."""

_QUARTER_HOUR, _TWO_MINUTES, _FIVE_MINUTES = 900.0, 120.0, 300.0


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]


def blocked(node: StateNode, message: Text) -> NodeEvents:
    """Something blocks the disruption of the node."""
    return of_node(node, _BLOCKED, message, _TWO_MINUTES, hides=True)


def unconsolidatable(node: StateNode, message: Text) -> NodeEvents:
    """Consolidation leaves the node alone."""
    return of_node(node, _UNCONSOLIDATABLE, message, _QUARTER_HOUR, hides=True)


def candidate(node: StateNode, command: str, savings: float) -> NodeEvents:
    """A command with a replacement was found."""
    message = f"Consolidation candidate: {command} (savings: ${savings:.2f})"
    return of_node(node, "ConsolidationCandidate", message, _TWO_MINUTES)


def rejected(node: StateNode, command: str, reason: str, savings: float) -> NodeEvents:
    """A command did not survive its validation."""
    message = f"Consolidation rejected: {command}, reason: {reason} (savings: ${savings:.2f})"
    return of_node(node, "ConsolidationRejected", message, _TWO_MINUTES)


def _score_text(score: float, threshold: float, k: int, savings: float, disruption: float) -> str:
    shown = "+Inf" if math.isinf(score) else f"{score:.2f}"
    return f"score {shown} >= threshold {threshold:.2f} (k: {k}, savings {savings:.1f}%, disruption {disruption:.1f}%)"


def approved(node: StateNode, score: float, threshold: float, k: int, savings: float, disruption: float) -> NodeEvents:
    """The policy Balanced approves a command about one node; ``savings`` and ``disruption`` are in percent."""
    return of_node(node, "ConsolidationApproved", _score_text(score, threshold, k, savings, disruption), _TWO_MINUTES)


def nodepool_approved(
    name: str, score: float, threshold: float, k: int, savings: float, disruption: float
) -> SchedulingEvent:
    """The policy Balanced of a NodePool approves a command about several nodes; ``savings`` and ``disruption`` are in percent."""
    text = _score_text(score, threshold, k, savings, disruption)
    return SchedulingEvent("NodePool", name, "Normal", "ConsolidationApproved", text, _TWO_MINUTES)


def nodepool_blocked(name: str, reason: str) -> SchedulingEvent:
    """A NodePool's budgets allow no disruption for this reason."""
    text = f"No allowed disruptions for disruption reason {reason} due to blocking budget"
    return SchedulingEvent("NodePool", name, "Normal", _BLOCKED, text)


def failed_scheduling(pod: str, reason: str) -> SchedulingEvent:
    """No node was found for a pod."""
    text = f"Failed to schedule pod, {reason}"
    return SchedulingEvent("Pod", pod, "Warning", "FailedScheduling", text, _FIVE_MINUTES)


def nominated(pod: str, node: StateNode) -> SchedulingEvent:
    """A pod should schedule on a node that exists."""
    nodeclaim = name_of(node.nodeclaim) if node.nodeclaim is not None else None
    text = nomination(nodeclaim, name_of(node.node) if node.node is not None else None)
    return SchedulingEvent("Pod", pod, "Normal", NOMINATED, text, _TWO_MINUTES)


def launching(nodeclaim: str, reason: str) -> SchedulingEvent:
    """A replacement is being launched."""
    text = f"Launching NodeClaim: {reason}"
    return SchedulingEvent("NodeClaim", nodeclaim, "Normal", "DisruptionLaunching", text, _TWO_MINUTES)


def waiting_readiness(nodeclaim: str) -> SchedulingEvent:
    """A replacement is not initialized yet."""
    text = "Waiting on readiness to continue disruption"
    return SchedulingEvent("NodeClaim", nodeclaim, "Normal", "DisruptionWaitingReadiness", text, _TWO_MINUTES)


def terminating(node: NodeName, nodeclaim: NodeClaimName, reason: str) -> Iterator[SchedulingEvent]:
    """A candidate is deleted."""
    for kind, name in (("Node", node), ("NodeClaim", nodeclaim)):
        text = f"Disrupting {kind}: {reason}"
        yield SchedulingEvent(kind, name, "Normal", "DisruptionTerminating", text, _TWO_MINUTES)
