"""A cluster as simulations change it: pods are placed and taken away, nodes added and removed, and nothing of it stays.

Sources: autoscaler simulator/clustersnapshot/predicate/{predicate_snapshot,plugin_runner}.go, scheduling_opts.go
(lastIndexOrderMapping): a pod goes to the first node that takes it, and the search begins after the node that took the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.kube.api.objects import Object, spec_of, uid_of, with_spec
from harness.kube.api.versions import NEWEST, Version
from harness.kube.scheduling.filters import UNTOLERATED_TAINT, Failure, Filters
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.volume_binding import PodVolumes
from lazyrecords import dataclass

__all__ = ["Acceptable", "Cycle", "Snapshot", "Surroundings", "reasons_text"]

Acceptable = Callable[[str], bool]
"""The predicate of the names of nodes on which a pod may be placed."""


def _no_volumes(pod: Object) -> PodVolumes | None:
    return None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The objects beside nodes and pods that decide where a pod fits; `volumes` returns the claims of a pod."""

    namespaces: Sequence[Object] = ()
    version: Version = NEWEST
    volumes: Callable[[Object], PodVolumes | None] = _no_volumes


class Cycle:
    """The place in the list of nodes where the search for the next pod begins; it outlives a snapshot."""

    def __init__(self) -> None:
        self.last = 0

    def order(self, count: int) -> Iterable[int]:
        """Return the indexes of so many nodes, from the one after the last match."""
        return ((step + 1 + self.last) % count for step in range(count))


class Snapshot:
    """Nodes with their pods. A fork can be changed without its origin."""

    def __init__(self, nodes: Iterable[NodeInfo], surroundings: Surroundings, cycle: Cycle | None = None) -> None:
        self._nodes: dict[str, NodeInfo] = {info.name: info for info in nodes}
        self._surroundings = surroundings
        self.cycle = cycle or Cycle()

    @property
    def nodes(self) -> Mapping[str, NodeInfo]:
        """The nodes by name, in the order in which they came."""
        return self._nodes

    def fork(self) -> Snapshot:
        """Return a copy that can be changed alone."""
        return Snapshot(self._nodes.values(), self._surroundings, self.cycle)

    def add(self, info: NodeInfo) -> None:
        """Add a node, or put another record in the place of one that is there."""
        self._nodes[info.name] = info

    def remove(self, node: str) -> None:
        """Take a node away, with its pods. Raises KeyError."""
        del self._nodes[node]

    def take(self, pods: Iterable[Object], node: str) -> None:
        """Take pods from their node."""
        gone = {uid_of(pod) for pod in pods}
        info = self._nodes[node]
        self._nodes[node] = NodeInfo(info.node, (pod for pod in info.pods if uid_of(pod) not in gone))

    def failure(self, pod: Object, node: str) -> Failure | None:
        """Return why the node does not take the pod, None where it does (CheckPredicates)."""
        filters = self._filters(pod)
        if isinstance(filters, Failure):
            return filters
        return filters.failure(self._nodes[node])

    def place(self, pod: Object, node: str) -> Failure | None:
        """Place the pod on a node; return why that is not possible, None where it is done (SchedulePod)."""
        problem = self.failure(pod, node)
        if problem is None:
            self._put(pod, node)
        return problem

    def place_on_any(self, pod: Object, acceptable: Acceptable) -> str | None:
        """Place the pod on the first node that takes it, and return its name; None where none does (SchedulePodOnAnyNodeMatching)."""
        filters = self._filters(pod)
        if isinstance(filters, Failure):
            return None
        infos = list(self._nodes.values())
        for index in self.cycle.order(len(infos)):
            info = infos[index]
            if spec_of(info.node).get("unschedulable") or not acceptable(info.name):
                continue
            if info.has_room(filters.requests) and filters.failure(info) is None:
                self.cycle.last = index
                self._put(pod, info.name)
                return info.name
        return None

    def _filters(self, pod: Object) -> Filters | Failure:
        around = self._surroundings
        volumes = around.volumes(pod) if spec_of(pod).get("volumes") else None
        if volumes is not None and volumes.problem is not None:
            return Failure("", (volumes.problem,), True)
        return Filters.for_pod(pod, list(self._nodes.values()), volumes, around.namespaces, around.version)

    def _put(self, pod: Object, node: str) -> None:
        self._nodes[node] = self._nodes[node].with_also((with_spec(pod, nodeName=node),))


def reasons_text(failure: Failure) -> tuple[str, ...]:
    """Return a failure's reasons in the autoscaler's words, which name no taint (kubernetes plugins/tainttoleration)."""
    return tuple(
        f"{UNTOLERATED_TAINT}(s)" if reason.startswith(UNTOLERATED_TAINT) else reason for reason in failure.reasons
    )
