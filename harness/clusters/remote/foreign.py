"""A cluster that somebody else runs, reached by a kubeconfig: worlds put their objects beside the present ones, and touch no others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from harness.clusters.client.access import token_of
from harness.clusters.client.connection import Connection
from harness.clusters.client.events import EventFeed, ObservedEvent
from harness.clusters.client.mirror import Mirror
from harness.clusters.client.writer import RestWriter
from harness.clusters.cluster import RealMachines
from harness.clusters.control_plane.cluster import is_infrastructure
from harness.clusters.control_plane.rejections import explainer
from harness.clusters.kubeconfig import KubeconfigError
from harness.clusters.provenance import Evidence
from harness.clusters.remote.belongings import Belongings
from harness.clusters.remote.live import LiveRemoteCluster
from harness.clusters.remote.own_writer import OwnWriter
from harness.clusters.remote.ownership import Ownership, reference_of
from harness.clusters.remote.reached import Reached
from harness.clusters.waiting import unique
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, KARPENTER, Identity, Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Key, Object
from harness.kube.api.status import ApiError

__all__ = ["ForeignCluster", "ForeignRemote", "attach_foreign"]

_NEEDED = ("NodePool", "NodeClaim", "AKSNodeClass")


class ForeignCluster:
    """The cluster that a context leads to. Kubelets are impersonated; all others write as the kubeconfig says.

    `bare`: Karpenter's CRDs need not be there. `run` names the run whose objects are written to;
    `belongings` are its objects there, and nothing else is ever changed or deleted.
    Raises KubeconfigError, also for a cluster without Karpenter's CRDs. Close it with `stop`.
    """

    events_come_later = True
    real_machines: RealMachines | None = None
    machines: Collection[str] = ()

    def __init__(self, reached: Reached, *, run: str | None = None, bare: bool = False) -> None:
        self.name, self.ca = reached.name, reached.ca
        self.run = run or unique()
        self.ownership = Ownership(self.run)
        self._reached = reached
        try:
            self._endpoint = reached.endpoint()
        except OSError as error:
            raise KubeconfigError(f"context {self.name}: {' '.join(str(error).split())}") from None
        self.host, self.port = self._endpoint.host, self._endpoint.port
        self._connections: dict[str, Connection] = {}
        self._writers: dict[Identity, OwnWriter] = {}
        self._crds: Crds | None = None
        self.admin = self._connection(ADMIN)
        self.belongings = Belongings(self.admin, self.ownership)
        self.view = Mirror(self.admin)
        self.view.serves_accounts = True
        self.view.hidden = is_infrastructure
        self._feed = EventFeed(self.admin)
        try:
            self.kubernetes = (
                str(self.admin.request("GET", "/version")["gitVersion"]).removeprefix("v").partition("-")[0]
            )
            self.view.start()
            self._feed.start()
        except (OSError, RuntimeError, ApiError) as error:
            raise KubeconfigError(f"context {self.name}: {' '.join(str(error).split())}", reached=True) from None
        missing = [kind for kind in _NEEDED if not self.view.watches(kind)]
        if missing and not bare:
            self.stop()
            raise KubeconfigError(
                f"context {self.name} serves no {', '.join(missing)}: apply the CRDs of Karpenter and of its Azure provider",
                reached=True,
            )

    def writer(self, identity: Identity) -> OwnWriter:
        """A Writer in the name of this identity, for objects of the run only."""
        if identity not in self._writers:
            explain = explainer(self._rules)
            writer = RestWriter(self._connection(identity), identity, witness=self.view, explain=explain)
            self._writers[identity] = OwnWriter(writer, self.admin, self.ownership)
        return self._writers[identity]

    def owns(self, obj: Object) -> bool:
        """Return whether an object belongs to the run, by what the view shows."""
        return self.ownership.owns(obj, self.view.get)

    def evidence(self, node: str) -> Iterable[Evidence]:
        """Return nothing: there is no audit log to read. ForeignRemote has the writes that it saw."""
        return ()

    def deaths(self) -> str:
        """Return nothing: no part of it is watched from here."""
        return ""

    def reset(self) -> None:
        """Leave everything where it is."""

    def forget(self) -> None:
        """Leave the Events so far out of later answers."""
        self._feed.take()

    def observed_events(self, *sources: str) -> Sequence[ObservedEvent]:
        """The Events of these senders since the last call; those of others are dropped."""
        return self._feed.take_of(sources)

    def install(self, crds: Crds, manifests: Sequence[dict[str, Any]] | None = None) -> None:
        """Take the present definitions for these."""
        self._crds = crds

    def update_crds(self, crds: Crds) -> None:
        """Raise LookupError: the cluster's definitions are not changed."""
        raise LookupError("the CRDs of this cluster are not ours to replace")

    def left_by_others(self) -> list[str]:
        """Return Karpenter's objects of others, by name."""
        return [reference_of(obj) for kind in _NEEDED for obj in self.view.list(kind) if not self.owns(obj)]

    def kubeconfig(self, identity: Identity = ADMIN) -> dict[str, Any]:
        """Return a kubeconfig for a controller that runs beside this process: the same credentials for every identity."""
        return self._reached.kubeconfig()

    def token(self, name: str, namespace: str = "kube-system") -> str:
        """Return a token of a service account (TokenRequest); empty where the server gives none.

        A present account stays as it is; a missing one is made, and belongs to the run.
        """
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        try:
            return token_of(self.admin, name, namespace, account=self.ownership.stamped(account))
        except ApiError as error:
            if error.code not in (404, 405):
                raise
            return ""

    def stop(self) -> None:
        """End the watches and the connections; the cluster stays."""
        self.view.stop()
        self._feed.stop()
        for connection in self._connections.values():
            connection.close()

    def _rules(self) -> Crds:
        if self._crds is None:
            raise LookupError("no world has this cluster")
        return self._crds

    def _connection(self, identity: Identity) -> Connection:
        node = identity.user.startswith("system:node:")
        key = identity.user if node else ""
        if key not in self._connections:
            impersonated = {"Impersonate-User": identity.user, "Impersonate-Group": "system:nodes"} if node else {}
            headers = {**self._endpoint.headers, **impersonated}
            self._connections[key] = Connection(replace(self._endpoint, headers=headers))
        return self._connections[key]


class ForeignRemote(LiveRemoteCluster):
    """A foreign cluster for one world in real time. Writes of others to Nodes are taken for Karpenter's, whoever runs it."""

    somebody = KARPENTER
    remote: ForeignCluster

    def owns(self, obj: Object) -> bool:
        """Return whether an object belongs to the run: kubelets and drivers look after these only."""
        return self.remote.owns(obj)

    def provide(self, objects: Iterable[Object]) -> None:
        """Do nothing: the cluster stays as it is."""

    def clear(self) -> None:
        """Do nothing: the cluster's objects belong to others."""

    def evidence(self, node: str) -> Iterable[Evidence]:
        """Return the writes to a Node in order: ours, and those that were seen."""
        return self.journal.entries_about(Key("Node", "", node))


def attach_foreign(cluster: ForeignCluster) -> Any:
    """Return a ClusterFactory for one world in real time."""

    def factory(engine: Engine, rng: Rng, ids: Ids, sink: Sink, *, crds: Crds, kubernetes: str) -> ForeignRemote:
        return ForeignRemote(cluster, engine, ids, sink, crds=crds, kubernetes=kubernetes, seconds=60.0)

    return factory
