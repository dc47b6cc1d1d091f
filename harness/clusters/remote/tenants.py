"""Objects of others in a namespace, of whatever kind the API server serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import root
from harness.clusters.remote.ownership import Ownership
from harness.kube.api.objects import Object, is_terminating, name_of, owners_of
from harness.kube.api.status import ApiError

__all__ = ["tenants"]

_WRITABLE = frozenset({"create", "delete", "list"})
"""The verbs of a resource whose objects somebody makes; computed ones (metrics of pods) have no `create`."""
_OF_THE_CLUSTER = frozenset({"ServiceAccount/default", "ConfigMap/kube-root-ca.crt"})
"""Objects that kube-controller-manager makes in each namespace (pkg/controller/serviceaccount,
pkg/controller/certificates/rootcacertpublisher)."""
_FOLLOW = frozenset({"Event", "Endpoints"})
"""Kinds whose objects follow others, without an owner reference."""


def tenants(connection: Connection, namespace: str, ownership: Ownership) -> list[str]:
    """Return `KIND/NAME` of the objects in a namespace that are somebody else's and would go with it.

    An object that is being deleted, or that has an owner, goes by itself. Raises ApiError for a kind that may not be listed.
    """
    references = []
    for kind, path in _resources(connection, namespace):
        for obj in connection.request("GET", path).get("items") or ():
            reference = f"{kind}/{name_of(obj)}"
            if reference not in _OF_THE_CLUSTER and _stays({"kind": kind, **obj}, ownership):
                references.append(reference)
    return references


def _stays(obj: Object, ownership: Ownership) -> bool:
    return not (is_terminating(obj) or owners_of(obj) or ownership.marks(obj))


def _resources(connection: Connection, namespace: str) -> Iterator[tuple[str, str]]:
    """The kind and the path of each resource of the namespace that can be listed and written."""
    for version in _versions(connection):
        try:
            served: Mapping[str, Any] = connection.request("GET", root(version))
        except ApiError as error:
            if error.code not in (404, 503):  # an extension server that is down serves nothing that could be deleted
                raise
            continue
        for resource in served.get("resources") or ():
            if resource["namespaced"] and resource["kind"] not in _FOLLOW and set(resource["verbs"]) >= _WRITABLE:
                yield resource["kind"], f"{root(version)}/namespaces/{namespace}/{resource['name']}"


def _versions(connection: Connection) -> Iterator[str]:
    yield "v1"
    for group in connection.request("GET", "/apis").get("groups") or ():
        yield (group.get("preferredVersion") or group["versions"][0])["groupVersion"]
