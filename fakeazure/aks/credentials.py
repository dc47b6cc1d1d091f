"""Credentials of a managed cluster: the kubeconfig of the cluster that is attached, or one that names where it would be."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from fakeazure.aks.managed_clusters import ONE, found_cluster
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Handler, Route
from fakeazure.guids import guid_of
from fakeazure.state import State
from fakeazure.store import Entry


def _made(cluster: Entry, role: str) -> str:
    """A kubeconfig as AKS writes it, block by block in alphabetical order, with a token that no server knows."""
    from fakeazure.aks.kubeconfig_text import kubeconfig_text  # only who asks for a cluster's credentials needs PyYAML

    name, group = cluster.id.name, cluster.id.group
    user = f"{role}_{group}_{name}"
    server = f"https://{cluster.document['properties'].get('fqdn')}:443"
    authority = base64.b64encode(f"fakeazure {name}\n".encode("utf-8", "surrogatepass")).decode()
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": user, "user": {"token": guid_of(user).replace("-", "")}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
        "preferences": {},
    }
    return kubeconfig_text(document)


def _credential(role: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        cluster = found_cluster(state, request)
        text = state.kubeconfigs.get(cluster.id.key) or _made(cluster, role)
        value = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
        return Response(200, body={"kubeconfigs": [{"name": role, "value": value}]})

    return handler


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for role in ("clusterAdmin", "clusterUser", "clusterMonitoringUser"):
        yield Route("POST", f"{ONE}/list{role[0].upper()}{role[1:]}Credential", _credential(role))
