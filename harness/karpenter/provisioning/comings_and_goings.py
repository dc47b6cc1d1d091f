"""NodeClaims without a provider id, and machines that are being deleted: Karpenter's cluster state waits for both.

Source: core pkg/controllers/state/cluster.go (Synced).
"""

from __future__ import annotations

from typing import TypeVar

from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import is_terminating, name_of, status_of

__all__ = ["ComingsAndGoings"]

T = TypeVar("T")
_MACHINES = frozenset({"NodeClaim", "Node"})


class ComingsAndGoings:
    """Sets of names, kept up to date by the changes of NodeClaims and Nodes: it has to `hear` all of them."""

    def __init__(self) -> None:
        self._coming: set[str] = set()
        self._going: set[tuple[str, str]] = set()

    def hear(self, change: Change) -> None:
        """Record a change of a NodeClaim or Node; other kinds do not matter."""
        obj = change.object
        kind = obj["kind"]
        if kind not in _MACHINES:
            return
        name, there = name_of(obj), change.type is not ChangeType.DELETED
        if kind == "NodeClaim":
            _set(self._coming, name, there and not status_of(obj).get("providerID"))
        _set(self._going, (kind, name), there and is_terminating(obj))

    @property
    def coming(self) -> bool:
        """Return whether a NodeClaim has no provider id yet."""
        return bool(self._coming)

    @property
    def going(self) -> bool:
        """Return whether a NodeClaim or Node is being deleted."""
        return bool(self._going)


def _set(members: set[T], member: T, belongs: bool) -> None:
    if belongs:
        members.add(member)
    else:
        members.discard(member)
