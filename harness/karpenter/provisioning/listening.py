"""Observers of the provisioner's simulations: those that explain, and those that record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling import ClusterSnapshot, PlannedNodeClaim, SchedulingResults

if TYPE_CHECKING:
    from harness.karpenter.scheduling.reasons.ledger import Ledger

__all__ = ["Listener", "ledger_for"]


class Listener:
    """Is called for each simulation; no decision depends on it. `wants_ledger`: simulations collect their reasons in a ledger."""

    wants_ledger = False

    def solved(
        self,
        snapshot: ClusterSnapshot,
        types: Mapping[str, Sequence[InstanceType]],
        results: SchedulingResults,
        ledger: Ledger | None,
    ) -> None:
        """A simulation has ended; `ledger` is None unless a listener wants one."""

    def created(self, planned: PlannedNodeClaim, nodeclaim: str) -> None:
        """A planned NodeClaim was created under this name."""


def ledger_for(listeners: Iterable[Listener]) -> Ledger | None:
    """A new ledger if one of the listeners wants one, else None."""
    if not any(listener.wants_ledger for listener in listeners):
        return None
    from harness.karpenter.scheduling.reasons.ledger import Ledger

    return Ledger()
