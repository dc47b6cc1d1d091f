"""Whether consolidateAfter still protects a node, because pods came or went lately.

Core ``pkg/utils/disruption/disruption.go`` (IsUnderConsolidateAfter).
"""

from collections.abc import Container

from harness.engine.clock import parse
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object, condition, spec_of, status_of
from harness.kube.go.durations import parse_duration

NEVER = "Never"


def consolidate_after(nodepool: Object) -> int | None:
    """The NodePool's ``consolidateAfter`` in nanoseconds; None when consolidation is off."""
    text = (spec_of(nodepool).get("disruption") or {}).get("consolidateAfter")
    return None if text is None or text == NEVER else parse_duration(text)


def settles_in(nodepool: Object, nodeclaim: Object, now: int) -> int:
    """The nanoseconds until ``consolidateAfter`` has passed; 0 when it has, or when it does not apply."""
    after = consolidate_after(nodepool)
    begun = _settles_since(nodeclaim) if after else None
    return max(0, begun + after - now) if begun is not None and after else 0


def settling_since(state: StateNode) -> tuple[str, int | None]:
    """The NodePool of a machine, and when it began to settle; None for one that does not."""
    begun = _settles_since(state.nodeclaim) if state.nodeclaim is not None else None
    return state.labels.get(NODEPOOL) or "", begun


def _settles_since(nodeclaim: Object) -> int | None:
    """The last pod event, or when the node was initialized; None before that."""
    initialized = condition(nodeclaim, "Initialized")
    if initialized is None or initialized.get("status") != "True":
        return None
    return parse(status_of(nodeclaim).get("lastPodEventTime") or initialized["lastTransitionTime"])


def is_exempt(pod: Object, going: Container[str]) -> bool:
    """Whether nodes that still settle take the pod nevertheless; ``going`` are the names of the nodes that go away."""
    return status_of(pod).get("phase") == "Pending" or spec_of(pod).get("nodeName") in going
