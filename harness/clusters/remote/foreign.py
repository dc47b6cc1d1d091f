"""A cluster that somebody else runs, reached by a kubeconfig: worlds put their objects beside what is there, and take away nothing else."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.clusters.client.access import kubeconfig_of, token_of
from harness.clusters.client.connection import Connection, Endpoint
from harness.clusters.client.events import EventFeed, ObservedEvent
from harness.clusters.client.mirror import Mirror
from harness.clusters.client.writer import RestWriter
from harness.clusters.cluster import RealMachines
from harness.clusters.control_plane.cluster import is_infrastructure
from harness.clusters.control_plane.rejections import explainer
from harness.clusters.kubeconfig import KubeconfigError, client_of
from harness.clusters.provenance import Evidence
from harness.clusters.remote.live import LiveRemoteCluster
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, KARPENTER, Identity, Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Key, name_of
from harness.kube.api.status import ApiError

__all__ = ["ForeignCluster", "ForeignRemote", "attach_foreign"]

_NEEDED = ("NodePool", "NodeClaim", "AKSNodeClass")


class ForeignCluster:
    """The cluster of a context (the current one where none is named). Kubelets are impersonated; all others write as the kubeconfig says.

    Raises ClientMissing, KubeconfigError, also for a cluster without Karpenter's CRDs. Close it with `stop`.
    """

    events_come_later = True
    real_machines: RealMachines | None = None
    machines: Collection[str] = ()

    def __init__(self, path: Path | None = None, context: str | None = None) -> None:
        self.name, client = client_of(path, context)
        settings = self._settings = client.configuration
        parts = urlsplit(settings.host)
        self.host, self.port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        self.ca = Path(settings.ssl_ca_cert) if settings.ssl_ca_cert else None
        self._headers = {one["key"]: one["value"] for one in settings.auth_settings().values() if one["in"] == "header"}
        self._tls = _context_of(settings) if parts.scheme == "https" else None
        self._connections: dict[str, Connection] = {}
        self._writers: dict[Identity, RestWriter] = {}
        self._crds: Crds | None = None
        self.admin = self._connection(ADMIN)
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
        if missing:
            self.stop()
            raise KubeconfigError(
                f"context {self.name} serves no {', '.join(missing)}: apply the CRDs of Karpenter and of its Azure provider",
                reached=True,
            )

    def writer(self, identity: Identity) -> RestWriter:
        """A Writer in the name of this identity."""
        if identity not in self._writers:
            explain = explainer(self._rules)
            self._writers[identity] = RestWriter(
                self._connection(identity), identity, witness=self.view, explain=explain
            )
        return self._writers[identity]

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
        kinds = ("NodePool", "NodeClaim", "AKSNodeClass")
        return [f"{kind}/{name_of(each)}" for kind in kinds for each in self.view.list(kind)]

    def kubeconfig(self, identity: Identity = ADMIN) -> dict[str, Any]:
        """For a controller that runs beside this process: the same credentials, whoever asks."""
        cluster: dict[str, Any] = {"server": self._settings.host}
        if self.ca is not None:
            cluster["certificate-authority"] = str(self.ca.absolute())
        user: dict[str, Any] = {}
        if self._settings.cert_file:
            user = {"client-certificate": self._settings.cert_file, "client-key": self._settings.key_file}
        bearer = self._headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            user["token"] = bearer.removeprefix("Bearer ")
        return kubeconfig_of(self.name, cluster, user)

    def token(self, name: str, namespace: str = "kube-system") -> str:
        """A token of a service account, which is made if it is not there (TokenRequest); empty where the server gives none."""
        try:
            return token_of(self.admin, name, namespace)
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
            endpoint = Endpoint(self.host, self.port, self._tls, {**self._headers, **impersonated})
            self._connections[key] = Connection(endpoint)
        return self._connections[key]


class ForeignRemote(LiveRemoteCluster):
    """The same for one world in real time. What somebody else writes to Nodes is taken for Karpenter's, whoever runs it."""

    somebody = KARPENTER

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


def _context_of(settings: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif settings.ssl_ca_cert:
        context.check_hostname = False  # addresses change with tunnels; the authority is the cluster's own
    if settings.cert_file:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context
