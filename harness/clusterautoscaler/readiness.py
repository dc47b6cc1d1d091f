"""Readiness of nodes, and the number of a group's nodes that are still to come.

Sources: autoscaler utils/kubernetes/ready.go, clusterstate/clusterstate.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.taints import is_startup_taint
from harness.engine.clock import LONG_AGO, nanoseconds, parse
from harness.kube.api.labels import NOT_READY
from harness.kube.api.objects import Object, conditions_of, metadata_of, name_of, spec_of
from lazyrecords import dataclass

__all__ = [
    "GroupReadiness",
    "Readiness",
    "is_cluster_healthy",
    "is_group_healthy",
    "readiness_by_group",
    "readiness_of",
]

_AGAINST = frozenset({"DiskPressure", "NetworkUnavailable"})
_TAINTS = frozenset(
    {NOT_READY, "node.kubernetes.io/disk-pressure", "node.kubernetes.io/network-unavailable"},
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """The readiness of a node, and the moment from which its conditions are as they are, in nanoseconds of the clock."""

    ready: bool
    since: int


@dataclass(frozen=True, slots=True)
class GroupReadiness:
    """The names of a group's registered nodes: ready ones, those that are still starting, and those that failed."""

    ready: tuple[str, ...] = ()
    starting: tuple[str, ...] = ()
    unready: tuple[str, ...] = ()

    def upcoming(self, target: int) -> int:
        """Return how many nodes of so many are not there or not ready yet (calculateUpcomingNodesInNodeGroup)."""
        return max(0, target - len(self.ready) - len(self.unready))


def readiness_of(node: Object) -> Readiness:
    """Return whether a node is ready (GetNodeReadiness); one without the condition, or with a taint of its startup, is not."""
    present, ready, since = False, True, LONG_AGO
    for condition in conditions_of(node):
        kind = condition.get("type")
        if kind == "Ready":
            present = True
            ready = ready and condition.get("status") not in ("False", "Unknown")
        elif kind in _AGAINST:
            ready = ready and condition.get("status") != "True"
        else:
            continue
        if condition.get("lastTransitionTime"):
            since = max(since, parse(condition["lastTransitionTime"]))
    for taint in spec_of(node).get("taints") or ():
        if is_startup_taint(str(taint.get("key"))):
            ready = False
        if taint.get("key") in _TAINTS:
            ready = False
            if taint.get("timeAdded"):
                since = max(since, parse(taint["timeAdded"]))
    return Readiness(present and ready, since)


def readiness_by_group(
    nodes: Iterable[Object], group_of: Mapping[str, str], now: int, profile: Profile
) -> dict[str, GroupReadiness]:
    """Return the readiness of each group's nodes (updateReadinessStats)."""
    startup = nanoseconds(profile.max_node_startup_time)
    names: dict[str, tuple[list[str], list[str], list[str]]] = {}
    for node in nodes:
        group = group_of.get(name_of(node))
        if group is None:
            continue
        ready, starting, unready = names.setdefault(group, ([], [], []))
        if readiness_of(node).ready:
            ready.append(name_of(node))
        elif parse(str(metadata_of(node)["creationTimestamp"])) + startup > now:
            starting.append(name_of(node))
        else:
            unready.append(name_of(node))
    return {group: GroupReadiness(*map(tuple, lists)) for group, lists in names.items()}


def is_cluster_healthy(readiness: Iterable[GroupReadiness], nodes: int, profile: Profile) -> bool:
    """Return whether few enough nodes are unready (IsClusterHealthy)."""
    return _few(sum(len(group.unready) for group in readiness), nodes, profile)


def is_group_healthy(group: NodeGroup, readiness: GroupReadiness | None, expected: int, profile: Profile) -> bool:
    """Return whether few enough of the `expected` nodes of a group are missing (IsNodeGroupHealthy)."""
    if readiness is None:
        return group.target == 0 or expected == 0
    missing = max(0, expected - len(readiness.ready))
    return _few(missing, sum(map(len, _lists(readiness))), profile)


def _lists(readiness: GroupReadiness) -> Sequence[Sequence[str]]:
    return readiness.ready, readiness.starting, readiness.unready


def _few(unready: int, nodes: int, profile: Profile) -> bool:
    share = profile.max_total_unready_percentage / 100
    return not (unready > profile.ok_total_unready_count and unready > share * nodes)
