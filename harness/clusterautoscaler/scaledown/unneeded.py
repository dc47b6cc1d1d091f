"""Nodes that are unneeded, each since when, and those of them that may go now.

Source: autoscaler core/scaledown/unneeded/nodes.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.clusterautoscaler.drainability.rules import Moves
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.readiness import readiness_of
from harness.clusterautoscaler.scaledown.eligibility import is_scale_down_disabled
from harness.clusterautoscaler.scaledown.unremovable import UnremovableReason
from harness.engine.clock import nanoseconds
from harness.kube.api.objects import Object, name_of
from lazyrecords import dataclass

__all__ = ["Removable", "UnneededNodes"]


@dataclass(frozen=True, slots=True)
class Removable:
    """A node that could go, with what becomes of its pods. `risky`: not all of them may be evicted at once."""

    node: Object
    moves: Moves
    risky: bool = False


class UnneededNodes:
    """The unneeded nodes in the order in which they are looked at."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}
        self._nodes: dict[str, Removable] = {}

    def update(self, nodes: Iterable[Removable], now: int) -> None:
        """Note the nodes that are unneeded now; those that were already keep their time."""
        self._nodes = {name_of(removable.node): removable for removable in nodes}
        self._since = {name: self._since.get(name, now) for name in self._nodes}

    def clear(self) -> None:
        """Forget all."""
        self.update((), 0)

    @property
    def since(self) -> Mapping[str, int]:
        """The moment from which each node has been unneeded."""
        return self._since

    @property
    def nodes(self) -> Mapping[str, Removable]:
        """The unneeded nodes by name."""
        return self._nodes

    def due(self, name: str, profile: Profile) -> int:
        """Return the moment after which a node may go."""
        ready = readiness_of(self._nodes[name].node).ready
        seconds = profile.scale_down_unneeded_time if ready else profile.scale_down_unready_time
        return self._since[name] + nanoseconds(seconds)

    def removable_at(
        self,
        now: int,
        groups: Mapping[str, NodeGroup],
        group_of: Mapping[str, str],
        deletions: Mapping[str, int],
        profile: Profile,
    ) -> tuple[list[Removable], dict[str, UnremovableReason]]:
        """Return the nodes that may go now, empty ones first, and why the others may not (RemovableAt).

        `deletions`: how many nodes of each group are on their way.
        """
        sizes = {name: group.target for name, group in groups.items()}
        going: list[Removable] = []
        staying: dict[str, UnremovableReason] = {}
        for name, removable in sorted(self._nodes.items(), key=lambda item: bool(item[1].moves.pods)):
            group = groups[group_of[name]]
            size = sizes[group.id] - deletions.get(group.id, 0)
            reason = self._reason(name, removable, now, size <= group.minimum, profile)
            if reason is not None:
                staying[name] = reason
                continue
            sizes[group.id] -= 1
            going.append(removable)
        return going, staying

    def _reason(
        self, name: str, removable: Removable, now: int, smallest: bool, profile: Profile
    ) -> UnremovableReason | None:
        if is_scale_down_disabled(removable.node):
            return UnremovableReason.SCALE_DOWN_DISABLED
        due = self.due(name, profile)
        if due > self._since[name] and due >= now:
            if readiness_of(removable.node).ready:
                return UnremovableReason.NOT_UNNEEDED_LONG_ENOUGH
            return UnremovableReason.NOT_UNREADY_LONG_ENOUGH
        return UnremovableReason.MIN_SIZE_REACHED if smallest else None
