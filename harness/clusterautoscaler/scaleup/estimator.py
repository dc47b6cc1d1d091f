"""The number of new nodes for pods: first fit decreasing, on nodes made from a template.

Sources: autoscaler estimator/binpacking_estimator.go, {sng_capacity,static}_threshold.go, threshold_based_limiter.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.scaleup.equivalence import PodGroup
from harness.clusterautoscaler.scaleup.pod_order import decreasing
from harness.clusterautoscaler.snapshot import Snapshot
from harness.clusterautoscaler.templates import fresh_node
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object, spec_of
from harness.kube.scheduling.filters import Failure
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.spreading import SKEW

__all__ = ["estimate", "node_limit"]


def node_limit(group: NodeGroup, similar: Sequence[NodeGroup], most: int) -> int:
    """Return how many nodes an estimate may add: what the group and those like it still take, at most `most`."""
    return min(most, group.capacity + sum(other.capacity for other in similar))


def estimate(
    groups: Sequence[PodGroup], template: NodeInfo, snapshot: Snapshot, limit: int
) -> tuple[int, list[Object]]:
    """Return the number of nodes that pods come onto, and these pods. At most `limit` nodes are added."""
    packing = _Packing(snapshot.fork(), template, limit)
    more = True
    for group in decreasing(groups, template):
        remaining = packing.onto_added(group)
        if more:
            more = packing.onto_new(remaining)
    return len(packing.used), packing.scheduled


class _Packing:
    """One estimate under way (estimationState)."""

    def __init__(self, snapshot: Snapshot, template: NodeInfo, limit: int) -> None:
        self._snapshot, self._template, self._limit = snapshot, template, limit
        self._added: dict[str, None] = {}
        self._last = ""
        self.used: set[str] = set()
        """The names of the added nodes that have a pod."""
        self.scheduled: list[Object] = []

    def onto_added(self, pods: PodGroup) -> Sequence[Object]:
        """Place pods on the nodes added so far; return those from the first on that fits nowhere."""
        for index, pod in enumerate(pods):
            node = self._snapshot.place_on_any(pod, self._added.__contains__)
            if node is None:
                return pods[index:]
            self._count(pod, node)
        return ()

    def onto_new(self, pods: Sequence[Object]) -> bool:
        """Place pods on the last node or on new ones; return whether further nodes may be added for other pods."""
        for pod in pods:
            if self._last and self._onto_present(pod):
                continue
            if self._last and self._last not in self.used:
                return True  # an empty node does not take it, so another one would not either
            if len(self._added) >= self._limit:
                return False
            self._add_node()
            if self._snapshot.place(pod, self._last) is not None:
                return True
            self._count(pod, self._last)
        return True

    def _onto_present(self, pod: Object) -> bool:
        problem = self._snapshot.place(pod, self._last)
        if problem is None:
            self._count(pod, self._last)
            return True
        if not (_spreads_over_hosts(pod) and _is_spread_failure(problem)):
            return False
        node = self._snapshot.place_on_any(pod, lambda name: name != self._last)
        if node is None:
            return False
        self._count(pod, node)
        return True

    def _add_node(self) -> None:
        info = fresh_node(self._template, f"e-{len(self._added)}")
        self._snapshot.add(info)
        self._last = info.name
        self._added[info.name] = None

    def _count(self, pod: Object, node: str) -> None:
        self.used.add(node)
        self.scheduled.append(pod)


def _is_spread_failure(failure: Failure) -> bool:
    return SKEW in failure.reasons


def _spreads_over_hosts(pod: Object) -> bool:
    constraints = spec_of(pod).get("topologySpreadConstraints") or ()
    return any(constraint.get("topologyKey") == HOSTNAME for constraint in constraints)
