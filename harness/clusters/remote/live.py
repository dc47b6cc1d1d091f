"""A remote cluster in real time, with somebody else's Karpenter on it."""

from __future__ import annotations

from harness.clusters.client.events import SCHEDULER_NAME
from harness.clusters.cluster import Boot
from harness.clusters.memory.journal import Entry
from harness.clusters.remote.cluster import RemoteCluster
from harness.engine.ports import Change, ChangeType, Identity
from harness.kube.api.objects import key_of

__all__ = ["LiveRemoteCluster"]

_VERBS = {ChangeType.ADDED: "create", ChangeType.MODIFIED: "update", ChangeType.DELETED: "delete"}


class LiveRemoteCluster(RemoteCluster):
    """The cluster of a world in real time, whose Karpenter is another process: changes are taken as they arrive, without waiting."""

    in_virtual_time = False
    tellers = (SCHEDULER_NAME, "karpenter")
    somebody = Identity("")
    """The identity that counts as the writer of a watch's events, which name nobody."""
    _pumping = False

    def _heard(self, change: Change) -> None:
        """Handle a change; writes of others are kept in the journal as well, as far as they are seen."""
        if self._pumping:
            verb = _VERBS[change.type]
            after = change.object if change.type is not ChangeType.DELETED else None
            self.journal.record(
                Entry(
                    change.revision,
                    self._engine.clock.now,
                    self.somebody,
                    verb,
                    key_of(change.object),
                    "",
                    change.old,
                    after,
                )
            )
        super()._heard(change)

    def outside(self) -> bool:
        """Take the changes so far; return whether there were any."""
        self.attached()
        self._pumping = True
        try:
            came = self.view.pump() > 0
        finally:
            self._pumping = False
        self._mend()
        self._listen()
        return came

    @property
    def boot(self) -> Boot | None:
        """Bring up machines with real kubelets, where the cluster has them, without waiting for the view to know the Node."""
        real = self.remote.real_machines if self._machines else None
        return real.join if real is not None else None
