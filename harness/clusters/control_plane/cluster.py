"""The ports of a real cluster, wherever its API server runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.clusters.client.access import kubeconfig_of, token_of
from harness.clusters.client.connection import ClusterLost, Connection, Endpoint
from harness.clusters.client.events import EventFeed, ObservedEvent
from harness.clusters.client.mirror import Mirror
from harness.clusters.client.writer import RestWriter
from harness.clusters.cluster import RealMachines
from harness.clusters.control_plane.audit import AuditLog
from harness.clusters.control_plane.crds import crd_manifests, mark_of, marked
from harness.clusters.control_plane.pki import Authority
from harness.clusters.control_plane.rejections import explainer
from harness.clusters.provenance import Evidence
from harness.clusters.waiting import poll, unique
from harness.engine.ports import ADMIN, CLOUD_NODE_MANAGER, CONTROLLER_MANAGER, KARPENTER, Identity
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Object, labels_of, namespace_of
from harness.kube.api.resources import ResourceList
from harness.kube.api.status import ApiError

__all__ = ["CONTROL_PLANE", "RealCluster", "is_infrastructure"]

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""Label and taint of a control plane."""

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
_ANSWER_SECONDS = 300.0
"""Seconds that an API server on a busy machine may take for one request; one that dies closes the connection at once."""

_TRUSTED = (KARPENTER, CLOUD_NODE_MANAGER, CONTROLLER_MANAGER)
"""Identities of workloads that the harness plays; on a test cluster they may do everything."""


class RealCluster:
    """View, Writers and evidence over an API server at `host:port` whose certificate authority we hold.

    Every identity has a client certificate of its own, so authorization, NodeRestriction and the audit log see who writes.
    `deaths` names the parts that have died, with their last words, and is empty while all live; `diagnose` the reason of silence.
    """

    name = "real"
    start_seconds = 0.0
    """Seconds that its start took; 0 for one that another process started."""

    def __init__(
        self,
        host: str,
        port: int,
        authority: Authority,
        audit: AuditLog,
        *,
        diagnose: Callable[[], str] = lambda: "",
        deaths: Callable[[], str] = lambda: "",
        seconds: float = 120.0,
    ) -> None:
        self.host, self.port = host, port
        self.authority = authority
        self._audit = audit
        self._diagnose = diagnose
        self.deaths = deaths
        self._seconds = seconds
        self._crds: Crds | None = None
        self._connections: dict[Identity, Connection] = {}
        self._writers: dict[Identity, RestWriter] = {}
        self.admin = self.connection(ADMIN)
        self.view = Mirror(self.admin)
        self.view.serves_accounts = True
        self.view.hidden = is_infrastructure
        self._feed = EventFeed(self.admin)

    @property
    def crds(self) -> Crds:
        """Return the installed set. Raises LookupError before there is one."""
        if self._crds is None:
            raise LookupError("no CRDs are installed")
        return self._crds

    def connection(self, identity: Identity) -> Connection:
        """A connection that authenticates as this identity."""
        if identity not in self._connections:
            endpoint = Endpoint(self.host, self.port, self.authority.context(identity), diagnose=self._diagnose)
            self._connections[identity] = Connection(endpoint, timeout=_ANSWER_SECONDS)
        return self._connections[identity]

    def writer(self, identity: Identity) -> RestWriter:
        """A Writer in the name of this identity."""
        if identity not in self._writers:
            explain = explainer(lambda: self.crds)
            self._writers[identity] = RestWriter(
                self.connection(identity), identity, witness=self.view, explain=explain
            )
        return self._writers[identity]

    def evidence(self, node: str) -> Iterable[Evidence]:
        """The requests about a Node in order, from the audit log, once it knows the Node's last write."""
        present = self.view.get("Node", node)
        if present is not None:
            wanted = int(present["metadata"]["resourceVersion"])
            poll(
                lambda: self._audit.revision_of(node) >= wanted, f"the audit log to know {node} at {wanted}", seconds=30
            )
        return self._audit.of_node(node)

    @property
    def real_machines(self) -> RealMachines | None:
        """Return the maker of machines with kubelets of their own; None where Nodes are objects."""
        return None

    @property
    def machines(self) -> Collection[str]:
        """The Nodes whose kubelets are real and run now."""
        return ()

    def room(self) -> ResourceList | None:
        """Return the resources that a Node with a real kubelet has for pods; None where Nodes are objects and as large
        as their machines."""
        return None

    def machine_counts(self) -> tuple[int, int]:
        """Return the number of nodes that joined, and of registrations of Nodes by their kubelets."""
        return 0, 0

    def memory(self) -> dict[str, int]:
        """Memory in MiB of its parts by name, as far as this process can tell."""
        return {}

    def reset(self) -> None:
        """Take all machines away; where they are only objects there is nothing to do."""

    def forget(self) -> None:
        """Leave the evidence so far out of later answers, and the Events so far.

        A request that changes nothing marks the moment: the log may still owe lines of earlier requests.
        """
        mark = f"mark-{unique()}"
        self._audit.skip()
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": mark}}
        self.admin.request("POST", "/api/v1/nodes", query={"dryRun": "All"}, body=node)
        self._audit.forget(poll(lambda: self._audit.received(mark), "the audit log to show a request", seconds=30))
        self._feed.start()
        self._feed.take()

    def observed_events(self, *sources: str) -> Sequence[ObservedEvent]:
        """The Events of these senders since the last call; those of others are dropped."""
        return self._feed.take_of(sources)

    events_come_later = True
    """Whether the Events of a decision come a moment after it."""

    def version(self) -> str:
        """The version of Kubernetes that answers, `1.36.3`."""
        version: str = self.admin.request("GET", "/version")["gitVersion"]
        return version.removeprefix("v").partition("-")[0].partition("+")[0]

    def kubeconfig(self, identity: Identity = ADMIN) -> dict[str, Any]:
        """A kubeconfig that authenticates as this identity."""
        client = self.authority.client(identity)
        cluster = {"server": f"https://{self.host}:{self.port}", "certificate-authority": str(self.authority.ca)}
        user = {"client-certificate": str(client), "client-key": str(self.authority.key)}
        return kubeconfig_of(self.name, cluster, user)

    def token(self, name: str, namespace: str = "kube-system") -> str:
        """Return a token of a service account (TokenRequest), which is made where it is missing."""
        return token_of(self.admin, name, namespace)

    @property
    def ca(self) -> Path:
        """The certificate of its authority."""
        return self.authority.ca

    def lease(self) -> dict[str, str]:
        """This cluster as data. Raises NotImplementedError for one that cannot be lent."""
        raise NotImplementedError(f"a cluster of kind {self.name} cannot be lent")

    def stop(self) -> None:
        """End the programs; of a borrowed cluster only the connections."""
        self.close()

    def wait_ready(self) -> None:
        """Wait until the API server is ready. Raises TimedOut, or ClusterLost with the log of the ended program."""

        def ready() -> bool:
            try:
                return self.admin.raw("GET", "/readyz")[0] == 200
            except ClusterLost:
                why = self._diagnose()
                if why:
                    raise ClusterLost(f"the cluster did not start\n{why}") from None
                return False

        poll(ready, lambda: f"the API server at {self.host}:{self.port}\n{self._diagnose()}", seconds=self._seconds)

    def grant(self) -> None:
        """Let the identities that the harness plays do their work."""
        subjects = [
            {"kind": "User", "name": identity.user, "apiGroup": "rbac.authorization.k8s.io"} for identity in _TRUSTED
        ]
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "test-harness"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": subjects,
        }
        try:
            self.admin.request("POST", _BINDINGS, body=binding)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    def install(self, crds: Crds, manifests: Sequence[dict[str, Any]] | None = None) -> None:
        """Install the definitions of a release or of files, in place of those that are there; or `manifests`.

        Return when every kind is served. A replaced definition is removed first, and its objects with it: no object that other
        definitions accepted stays behind.
        """
        if manifests is None and self._crds == crds:
            return
        wanted = list(manifests) if manifests is not None else crd_manifests(crds)
        present = {item["metadata"]["name"] for item in self.admin.request("GET", _CRDS)["items"]}
        for crd in wanted:
            name = crd["metadata"]["name"]
            if name in present:
                self.view.unwatch(crd["spec"]["names"]["kind"])
                self.admin.request("DELETE", f"{_CRDS}/{name}")
                poll(lambda name=name: not self._has(f"{_CRDS}/{name}"), f"{name} to go", seconds=self._seconds)  # type: ignore[misc]
                poll(lambda crd=crd: not self._has(_served_at(crd)), f"{name} to go", seconds=self._seconds)  # type: ignore[misc]
        for crd in wanted:
            self.admin.request("POST", _CRDS, body=crd)
        for crd in wanted:
            waited = f"{crd['metadata']['name']} to be served"
            poll(lambda crd=crd: self._has(_served_at(crd)), waited, seconds=self._seconds)  # type: ignore[misc]
        self._crds = crds
        for crd in wanted:
            self.view.watch(crd["spec"]["names"]["kind"])

    def update_crds(self, crds: Crds) -> None:
        """Replace the definitions and keep the stored objects, as an upgrade of Karpenter's CRDs does.

        Return when every kind is judged by the new definition. Kinds that it lacks stay as they are.
        """
        if self._crds == crds:
            return
        wanted = crd_manifests(crds)
        present = {item["metadata"]["name"]: item for item in self.admin.request("GET", _CRDS)["items"]}
        for crd in wanted:
            old = present.get(crd["metadata"]["name"])
            if old is None:
                self.admin.request("POST", _CRDS, body=crd)
                continue
            new = {**marked(crd, crds), "metadata": {**old["metadata"], **crd["metadata"]}}
            self.admin.request("PUT", f"{_CRDS}/{crd['metadata']['name']}", body=new)
        for crd in wanted:
            waited = f"{crd['metadata']['name']} to be that of {crds.name}"
            if crd["metadata"]["name"] in present:
                poll(lambda crd=crd: self._shows(_served_at(crd), mark_of(crds)), waited, seconds=self._seconds)  # type: ignore[misc]
            else:
                poll(lambda crd=crd: self._has(_served_at(crd)), waited, seconds=self._seconds)  # type: ignore[misc]
                self.view.watch(crd["spec"]["names"]["kind"])
        self._crds = crds

    def _shows(self, path: str, mark: str) -> bool:
        """Return whether the tables of a kind have the column of this definition; its validation takes effect at the same moment."""
        status, table = self.admin.raw("GET", f"{path}?limit=1", accept=_TABLE)
        if status != 200:
            return False
        columns = json.loads(table)["columnDefinitions"]
        return any(column.get("description") == mark for column in columns)

    def _has(self, path: str) -> bool:
        return self.admin.raw("GET", path)[0] == 200

    def close(self) -> None:
        """End the watches and the connections; the cluster stays."""
        self.view.stop()
        self._feed.stop()
        for connection in self._connections.values():
            with suppress(OSError):
                connection.close()


_PARTS = frozenset({"kube-dns", "kube-proxy", "kindnet"})
"""Labels of the parts that kubeadm and kind install in kube-system."""


def is_infrastructure(obj: Object) -> bool:
    """Return whether an object is a part of the cluster itself: kind's control plane, or installed by kubeadm and kind.

    Others may have objects of theirs in kube-system, too.
    """
    labels, namespace = labels_of(obj), namespace_of(obj)
    if namespace == "kube-system":
        return labels.get("k8s-app") in _PARTS or labels.get("tier") == "control-plane"
    return namespace == "local-path-storage" or (obj["kind"] == "Node" and CONTROL_PLANE in labels)


def _served_at(manifest: dict[str, Any]) -> str:
    spec = manifest["spec"]
    version = next(version["name"] for version in spec["versions"] if version["storage"])
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
