"""The protection of a node by consolidateAfter, because pods came or went lately.

Core ``pkg/utils/disruption/disruption.go`` (IsUnderConsolidateAfter).
"""

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.engine.clock import parse
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.masks import few_bits
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered
from harness.kube.api.objects import Object, condition, spec_of, status_of
from harness.kube.go.durations import parse_duration

if TYPE_CHECKING:
    from harness.karpenter.scheduling.nodes.existing import ExistingNode

NEVER = "Never"


class ConsolidateAfterWindow:
    """The nodes of a moment (`now`, nanoseconds since the start) that are still within their NodePool's
    ``consolidateAfter``.

    ``lasting`` is that in nanoseconds, by NodePool; without it no node is protected. Few nodes have room for a pod,
    and only these are asked.
    """

    def __init__(
        self, existing: Sequence["ExistingNode"] = (), lasting: Mapping[str, int] | None = None, now: int = 0
    ) -> None:
        self._existing, self._lasting, self._now = existing, lasting, now
        self._known: dict[int, int] = {}

    def among(self, nodes: int) -> int:
        """Return the mask of the nodes within consolidateAfter among some nodes; masks are by position."""
        if not self._lasting or not nodes:
            return 0
        within = self._known.get(nodes)
        if within is None:
            within = 0
            for position in few_bits(nodes):
                if self._settles(self._existing[position].state, self._lasting):
                    within |= 1 << position
            self._known[nodes] = within
        return within

    def _settles(self, state: StateNode, lasting: Mapping[str, int]) -> bool:
        pool, begun = settling_since(state)
        return begun is not None and pool in lasting and begun + lasting[pool] > self._now


NO_WINDOW = ConsolidateAfterWindow()
"""No node is within its consolidateAfter."""


def consolidate_after(nodepool: Object) -> int | None:
    """The NodePool's ``consolidateAfter`` in nanoseconds; None when consolidation is off."""
    text = (spec_of(nodepool).get("disruption") or {}).get("consolidateAfter")
    return None if text is None or text == NEVER else parse_duration(text)


def settles_in(nodepool: Object, nodeclaim: Object, now: int) -> int:
    """The nanoseconds until ``consolidateAfter`` has passed; 0 when it has, or when it does not apply."""
    after = consolidate_after(nodepool)
    begun = _settles_since(nodeclaim) if after else None
    return max(0, begun + after - now) if begun is not None and after else 0


@remembered
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
    """Return whether nodes within consolidateAfter take the pod nevertheless; ``going`` are the names of the nodes that go away."""
    return status_of(pod).get("phase") == "Pending" or spec_of(pod).get("nodeName") in going
