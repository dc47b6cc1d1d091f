"""Nodes that stay, with the reason, and how long such a verdict lasts.

Sources: autoscaler core/scaledown/unremovable/nodes.go, simulator/cluster.go (UnremovableReason).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import StrEnum

from harness.clusterautoscaler.drainability.outcomes import Blocked
from lazyrecords import dataclass

__all__ = ["Unremovable", "UnremovableNodes", "UnremovableReason"]


class UnremovableReason(StrEnum):
    """The reason for which a node is not taken away, in the words of upstream's metric."""

    SCALE_DOWN_DISABLED = "ScaleDownDisabledAnnotation"
    NOT_UNNEEDED_LONG_ENOUGH = "NotUnneededLongEnough"
    NOT_UNREADY_LONG_ENOUGH = "NotUnreadyLongEnough"
    MIN_SIZE_REACHED = "NodeGroupMinSizeReached"
    BEING_DELETED = "CurrentlyBeingDeleted"
    NOT_UNDERUTILIZED = "NotUnderutilized"
    RECENTLY_UNREMOVABLE = "RecentlyUnremovable"
    NO_PLACE = "NoPlaceToMovePods"
    BLOCKED_BY_POD = "BlockedByPod"
    BLOCKED_BY_COMPLETION = "BlockedByOnCompletionPod"
    UNEXPECTED = "UnexpectedError"


@dataclass(frozen=True, slots=True)
class Unremovable:
    """The reason of one node; `blocked` is the pod that keeps it."""

    reason: UnremovableReason
    blocked: Blocked | None = None


class UnremovableNodes:
    """The verdicts of the last look, and the nodes that are not looked at again for a while."""

    def __init__(self) -> None:
        self.reasons: dict[str, Unremovable] = {}
        self._until: dict[str, int] = {}

    def begin(self, present: Container[str], now: int) -> None:
        """Forget verdicts, and the nodes that are gone or whose time is over (Update)."""
        self.reasons = {}
        self._until = {name: until for name, until in self._until.items() if name in present and until > now}

    def keep(self, node: str, verdict: Unremovable, until: int | None = None) -> None:
        """Note a verdict; with `until` the node is left alone up to this moment (AddTimeout)."""
        self.reasons[node] = verdict
        if until is not None:
            self._until[node] = until

    def is_recent(self, node: str) -> bool:
        """Return whether a node was found unremovable so shortly ago that it is not looked at again yet."""
        return node in self._until

    @property
    def until(self) -> Mapping[str, int]:
        """The moments up to which nodes are left alone."""
        return self._until
