"""A cluster that somebody else runs, reached by a kubeconfig: worlds put their objects beside what is there, and touch nothing else."""

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
    `belongings` are what it has there, and nothing else is ever changed or deleted.
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
        """Whether an object belongs to the run, by what the view shows."""
        return self.ownership.owns(obj, self.view.get)

    def evidence(self, node: str) -> Iterable[Evidence]:
        """Nothing: there is no audit log to read. ForeignRemote has what it saw."""
        return ()

    def deaths(self) -> str:
        """Nothing: no part of it is watched from here."""
        return ""

    def reset(self) -> None:
        """Leaves everything where it is."""

    def forget(self) -> None:
        """Leaves the Events so far out of later answers."""
        self._feed.take()

    def observed_events(self, *sources: str) -> Sequence[ObservedEvent]:
        """The Events of these senders since the last call; those of others are dropped."""
        return self._feed.take_of(sources)

    def install(self, crds: Crds, manifests: Sequence[dict[str, Any]] | None = None) -> None:
        """Takes the definitions that are there for these."""
        self._crds = crds

    def update_crds(self, crds: Crds) -> None:
        """Raises LookupError: the cluster's definitions are not changed."""
        raise LookupError("the CRDs of this cluster are not ours to replace")

    def left_by_others(self) -> list[str]:
        """Karpenter's objects that are there already, by name."""
        return [reference_of(each) for kind in _NEEDED for each in self.view.list(kind) if not self.owns(each)]

    def kubeconfig(self, identity: Identity = ADMIN) -> dict[str, Any]:
        """For a controller that runs beside this process: the same credentials, whoever asks."""
        return self._reached.kubeconfig()

    def token(self, name: str, namespace: str = "kube-system") -> str:
        """A token of a service account (TokenRequest); empty where the server gives none.

        An account that is there stays as it is; one that is not is made, and belongs to the run.
        """
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        try:
            return token_of(self.admin, name, namespace, account=self.ownership.stamped(account))
        except ApiError as error:
            if error.code not in (404, 405):
                raise
            return ""

    def stop(self) -> None:
        """Ends the watches and the connections; the cluster stays."""
        self.view.stop()
        self._feed.stop()
        for each in self._connections.values():
            each.close()

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
    """The same for one world in real time. What somebody else writes to Nodes is taken for Karpenter's, whoever runs it."""

    somebody = KARPENTER
    remote: ForeignCluster

    def owns(self, obj: Object) -> bool:
        """Whether an object belongs to the run: kubelets and drivers look after these only."""
        return self.remote.owns(obj)

    def provide(self, objects: Iterable[Object]) -> None:
        """Does nothing: the cluster has what it has."""

    def clear(self) -> None:
        """Does nothing: the cluster's objects belong to others."""

    def evidence(self, node: str) -> Iterable[Evidence]:
        """The writes to a Node in order: ours, and those that were seen."""
        return self.journal.of(Key("Node", "", node))


def attach_foreign(cluster: ForeignCluster) -> Any:
    """A ClusterFactory for one world in real time."""

    def factory(engine: Engine, rng: Rng, ids: Ids, sink: Sink, *, crds: Crds, kubernetes: str) -> ForeignRemote:
        return ForeignRemote(cluster, engine, ids, sink, crds=crds, kubernetes=kubernetes, seconds=60.0)

    return factory
