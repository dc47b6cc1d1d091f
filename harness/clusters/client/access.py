"""Credentials for somebody else: a kubeconfig, and the token of a service account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusters.client.connection import Connection
from harness.kube.api.status import ignoring

__all__ = ["kubeconfig_of", "token_of"]


def kubeconfig_of(
    name: str, cluster: Mapping[str, Any], user: Mapping[str, Any], *, user_name: str = "user"
) -> dict[str, Any]:
    """Return a kubeconfig with one cluster, one user and a context of both, which is the current one."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user_name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user_name}}],
        "current-context": name,
    }


def token_of(connection: Connection, name: str, namespace: str, *, account: Mapping[str, Any] | None = None) -> str:
    """Return a token of a service account (TokenRequest), which is made as `account` describes it where it is missing. Raises ApiError."""
    place = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    with ignoring(409):
        connection.request("POST", place, body=account or {"metadata": {"name": name}})
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(connection.request("POST", f"{place}/{name}/token", body=wanted)["status"]["token"])
