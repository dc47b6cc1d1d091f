"""Scale-ups that are under way: how many nodes are expected of each group, and until when.

Source: autoscaler clusterstate/clusterstate.go (scaleUpRequests, GetUpcomingNodes).
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.clusterautoscaler.backoff import Backoff
from harness.clusterautoscaler.nodegroups import NodeGroup, Resize
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.readiness import GroupReadiness
from harness.engine.clock import SECOND, nanoseconds
from harness.kube.go.durations import print_duration
from harness.world.cluster_autoscaler.reports import Reports
from lazyrecords import dataclass

__all__ = ["ScaleUpRequests"]


@dataclass(frozen=True, slots=True)
class _Request:
    increase: int
    since: int
    expected_by: int


class ScaleUpRequests:
    """The groups that grow."""

    def __init__(self, profile: Profile, reports: Reports, backoff: Backoff) -> None:
        self._profile, self._reports, self._backoff = profile, reports, backoff
        self._requests: dict[str, _Request] = {}

    def add(self, resize: Resize, now: int) -> None:
        """Note that a group grows; a request that is there already gets more time (registerOrUpdateScaleUpNoLock)."""
        before = self._requests.get(resize.group.id)
        increase = resize.size - resize.group.target + (before.increase if before is not None else 0)
        expected_by = now + nanoseconds(self._profile.max_node_provision_time)
        self._requests[resize.group.id] = _Request(increase, now, expected_by)

    def increase(self, group: str) -> int:
        """Return by how many nodes a group grows now."""
        request = self._requests.get(group)
        return request.increase if request is not None else 0

    def update(self, groups: Mapping[str, NodeGroup], readiness: Mapping[str, GroupReadiness], now: int) -> None:
        """Forget the scale-ups that are complete, and give up those that take too long (updateScaleRequests)."""
        for name, request in list(self._requests.items()):
            group = groups.get(name)
            if group is None or not readiness.get(name, GroupReadiness()).upcoming(group.target):
                del self._requests[name]
            elif request.expected_by < now:
                took = print_duration((now - request.since) // SECOND * SECOND)
                text = f"Nodes added to group {name} failed to register within {took}"
                self._reports.status("ScaleUpTimedOut", text, warning=True)
                self._backoff.fail(name, now)
                del self._requests[name]

    def expected(
        self, groups: Mapping[str, NodeGroup], readiness: Mapping[str, GroupReadiness], now: int
    ) -> dict[str, int]:
        """Return how many nodes are still to come of each group that grows (GetUpcomingNodes)."""
        counts: dict[str, int] = {}
        for name in self._requests:
            upcoming = readiness.get(name, GroupReadiness()).upcoming(groups[name].target)
            if upcoming and not self._backoff.is_backed_off(name, now):
                counts[name] = upcoming
        return counts

    @property
    def until(self) -> int | None:
        """The moment at which the first scale-up takes too long."""
        return min((request.expected_by for request in self._requests.values()), default=None)
