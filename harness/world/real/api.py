"""The API server of a controller's world: one that we serve from memory, or the one of an attached cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fakeazure.transports.pki import Pki
from harness.clusters.http.events import ClientEvents
from harness.clusters.http.server import ApiServer
from harness.engine.ids import Ids
from harness.engine.ports import KARPENTER
from harness.world.real.process import ANY_TOKEN

if TYPE_CHECKING:
    from harness.clusters.control_plane.cluster import RealCluster
    from harness.clusters.memory.cluster import MemoryCluster
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.engine.clock import Clock
    from harness.engine.rng import Rng
    from harness.world.real.fair_lock import FairLock
    from harness.world.recorder import Recorder

__all__ = ["Api", "RemoteApi", "ServedApi"]


class Api(Protocol):
    """An API server as a controller needs it: with a kubeconfig, and able to restart and stop."""

    host: str
    port: int
    token: str
    """The token of the controller's service account."""
    ca: Path | None
    """The certificate that a pod would find as `ca.crt`; None where the system's own trust is enough."""

    def kubeconfig(self) -> dict[str, Any]: ...

    def restart(self) -> None: ...

    def stop(self) -> None: ...


class Serving(Protocol):
    """The world behind a served API server, as far as the server needs it."""

    kubernetes: str

    @property
    def clock(self) -> Clock: ...
    @property
    def rng(self) -> Rng: ...
    @property
    def recorder(self) -> Recorder: ...
    @property
    def lock(self) -> FairLock: ...

    def catch_up(self) -> None: ...


class ServedApi:
    """A memory cluster behind a socket of its own, under the world's lock."""

    host, token = "127.0.0.1", ANY_TOKEN
    ca: Path | None = None

    def __init__(self, world: Serving, cluster: MemoryCluster, pki: Pki) -> None:
        self._world, self._store, self._pki = world, cluster.store, pki
        self._server = self._serve(0)
        self.port = self._server.port

    def kubeconfig(self) -> dict[str, Any]:
        """Return the controller's own kubeconfig."""
        return self._server.kubeconfig(ANY_TOKEN)

    def restart(self) -> None:
        """End the server with all its connections, and start it again at the same place; stored objects stay."""
        self._server.stop()
        self._server = self._serve(self.port)

    def stop(self) -> None:
        """Close the port."""
        self._server.stop()

    def _serve(self, port: int) -> ApiServer:
        world, store = self._world, self._store
        return ApiServer(
            store,
            kubernetes=world.kubernetes,
            events=ClientEvents(world.clock, Ids(world.rng), world.recorder, lambda: store.revision),
            settle=world.catch_up,
            catch_up=world.catch_up,
            lock=world.lock,
            tokens={ANY_TOKEN: KARPENTER},
            context=self._pki.server_context(),
            port=port,
        ).start()


class RemoteApi:
    """A real API server that runs elsewhere; the controller speaks to it directly, in the name of its service account."""

    def __init__(self, cluster: RealCluster | ForeignCluster) -> None:
        self._cluster = cluster
        self.host, self.port = cluster.host, cluster.port
        self.ca: Path | None = cluster.ca
        self.token = cluster.token("karpenter") or ANY_TOKEN

    def kubeconfig(self) -> dict[str, Any]:
        """Return the controller's own kubeconfig."""
        return self._cluster.kubeconfig(KARPENTER)

    def restart(self) -> None:
        """Raise LookupError: only its starter can restart it."""
        raise LookupError(f"the API server of the {self._cluster.name} cluster is not this world's to restart")

    def stop(self) -> None:
        """Leave it running."""
