"""Attaching: a remote cluster for worlds, one after the other."""

from __future__ import annotations

from harness.clusters.remote.cluster import Attachable, RemoteCluster
from harness.clusters.remote.live import LiveRemoteCluster
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds

__all__ = ["Attaching", "attach"]


def attach(remote: Attachable, *, seconds: float = 60.0, live: bool = False) -> Attaching:
    """Return a ClusterFactory for World: each world finds the cluster empty, with its own CRDs.

    `live`: for worlds in real time, which wait for nobody (harness.world.real).
    """
    return Attaching(remote, seconds, live)


class Attaching:
    """Attaches one remote cluster to one world after the other. The previous world has no cluster any more.

    `machines`: whether machines of the next worlds may have real kubelets, where the cluster can bring up such.
    """

    def __init__(self, remote: Attachable, seconds: float, live: bool = False) -> None:
        self.remote = remote
        self.machines = True
        self._seconds = seconds
        self._live = live
        self._last: RemoteCluster | None = None

    def __call__(self, engine: Engine, rng: Rng, ids: Ids, sink: Sink, *, crds: Crds, kubernetes: str) -> RemoteCluster:
        if self._last is not None:
            self._last.detach()
        self._last = (LiveRemoteCluster if self._live else RemoteCluster)(
            self.remote,
            engine,
            ids,
            sink,
            crds=crds,
            kubernetes=kubernetes,
            seconds=self._seconds,
            machines=self.machines,
        )
        return self._last
