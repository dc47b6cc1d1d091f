"""The planner: it looks at the cluster again and again, and knows which nodes have been unneeded for how long.

Source: autoscaler core/scaledown/planner/planner.go, processors/nodes/pre_filtering_processor.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.eligibility import eligibility
from harness.clusterautoscaler.scaledown.removal import Hints, simulate_removal
from harness.clusterautoscaler.scaledown.unneeded import Removable, UnneededNodes
from harness.clusterautoscaler.scaledown.unremovable import Unremovable, UnremovableNodes, UnremovableReason
from harness.clusterautoscaler.scaledown.utilization import Utilization
from harness.clusterautoscaler.snapshot import Snapshot
from harness.engine.clock import nanoseconds
from harness.kube.api.objects import Object, name_of

__all__ = ["Planner", "candidates"]


def candidates(nodes: Sequence[Object], groups: Mapping[str, NodeGroup], group_of: Mapping[str, str]) -> list[Object]:
    """Return the nodes of groups that may get smaller (GetScaleDownCandidates)."""
    small = {group.id for group in groups.values() if group.target <= group.minimum}
    return [node for node in nodes if (group := group_of.get(name_of(node))) is not None and group not in small]


class Planner:
    """The memory of scale-down from one look to the next."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.unneeded = UnneededNodes()
        self.unremovable = UnremovableNodes()
        self.utilization: dict[str, Utilization] = {}
        """The requested part of each node that was looked at."""
        self.hints = Hints()

    def look(
        self, snapshot: Snapshot, destinations: Sequence[Object], nodes: Sequence[Object], context: Context
    ) -> None:
        """Find the unneeded ones among `nodes`; pods may move to `destinations` (UpdateClusterState, categorizeNodes).

        Pods of nodes that are being drained have their new places in the snapshot already.
        """
        self.unremovable.begin(snapshot.nodes, context.now)
        eligible = self._eligible(snapshot, nodes, context.now)
        left = {name_of(node) for node in destinations}
        recheck = context.now + nanoseconds(self._profile.unremovable_node_recheck_timeout)
        removable: list[Removable] = []
        for node in eligible:
            if len(removable) >= self._limit():
                break
            name = name_of(node)
            result = simulate_removal(name, snapshot, left, context, self._profile, self.hints)
            if isinstance(result, Unremovable):
                self.unremovable.keep(name, result, recheck)
                continue
            moves, snapshot = result
            at_once = context.budgets.allow_at_once(moves.pods)
            left.discard(name)
            context.budgets.remove(moves.pods)
            removable.append(Removable(node, moves, risky=not at_once))
        self.unneeded.update(removable, context.now)
        self.hints.turn()

    def to_delete(
        self, now: int, groups: Mapping[str, NodeGroup], group_of: Mapping[str, str], deletions: Mapping[str, int]
    ) -> tuple[list[Removable], list[Removable]]:
        """Return the nodes that may go now: empty ones, and those that are drained first, risky ones last (NodesToDelete)."""
        going, staying = self.unneeded.removable_at(now, groups, group_of, deletions, self._profile)
        for name, reason in staying.items():
            self.unremovable.keep(name, Unremovable(reason))
        empty: list[Removable] = []
        drained: list[Removable] = []
        for removable in going:
            if removable.moves.on_completion:
                reason = UnremovableReason.BLOCKED_BY_COMPLETION
                self.unremovable.keep(name_of(removable.node), Unremovable(reason))
            else:
                (drained if removable.moves.pods else empty).append(removable)
        return empty, sorted(drained, key=lambda removable: removable.risky)

    def _eligible(self, snapshot: Snapshot, nodes: Sequence[Object], now: int) -> list[Object]:
        eligible: list[Object] = []
        self.utilization = {}
        for node in nodes:
            name = name_of(node)
            if self.unremovable.is_recent(name):
                self.unremovable.keep(name, Unremovable(UnremovableReason.RECENTLY_UNREMOVABLE))
                continue
            reason, utilization = eligibility(snapshot.nodes[name], self._profile, now)
            if utilization is not None:
                self.utilization[name] = utilization
            if reason is None:
                eligible.append(node)
            else:
                self.unremovable.keep(name, Unremovable(reason))
        return eligible

    def _limit(self) -> int:
        """Return how many unneeded nodes are enough, as more could not go soon anyway (unneededNodesLimit)."""
        parallel, interval = self._profile.max_empty_bulk_delete, self._profile.scan_interval
        rounds = int(max(self._profile.scale_down_unneeded_time, interval) / interval)
        return min(len(self.unneeded.nodes) + 2 * parallel, parallel * rounds + parallel)
