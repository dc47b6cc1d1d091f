"""Who wants to know what the provisioner found, while it finds it: those that explain, and those that record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling import ClusterSnapshot, PlannedNodeClaim, SchedulingResults

if TYPE_CHECKING:
    from harness.karpenter.scheduling.reasons.ledger import Ledger

__all__ = ["Listener", "ledger_for"]


class Listener:
    """Is told of each simulation; nothing that is decided depends on it. `wants_ledger`: simulations note their reasons for it."""

    wants_ledger = False

    def solved(
        self,
        snapshot: ClusterSnapshot,
        types: Mapping[str, Sequence[InstanceType]],
        results: SchedulingResults,
        ledger: Ledger | None,
    ) -> None:
        """A simulation has ended; `ledger` is there where somebody wants one."""

    def created(self, planned: PlannedNodeClaim, nodeclaim: str) -> None:
        """A NodeClaim that a simulation planned is there, under this name."""


def ledger_for(listeners: Iterable[Listener]) -> Ledger | None:
    """A new ledger where one of them wants one."""
    if not any(one.wants_ledger for one in listeners):
        return None
    from harness.karpenter.scheduling.reasons.ledger import Ledger

    return Ledger()
