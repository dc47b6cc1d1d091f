"""A Writer whose writes are requests in the name of one identity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import path_of
from harness.engine.ports import Identity, PatchType
from harness.kube.api.kinds import KINDS, Kind, served
from harness.kube.api.objects import Object, name_of, namespace_of
from harness.kube.api.status import ApiError, not_served

__all__ = ["RestWriter", "Witness", "served_kind"]

_PATCHES: Mapping[str, str] = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}


class Witness(Protocol):
    """Is called for every write that succeeded, so that a mirror knows of it before its watch does."""

    def changed(self, kind: Kind, obj: Object) -> None:
        """Note that the object is now this, or was this when it was removed."""
        ...

    def gone(self, kind: Kind, namespace: str, name: str) -> None:
        """Note that the object of this name was removed."""
        ...


Explain = Callable[[ApiError, Object | None], ApiError]
"""Adds the cause to a refusal (the sent object is at hand where the request had one)."""


class RestWriter:
    """Writes in the name of one identity; see the Writer port for the meaning of each call."""

    def __init__(
        self,
        connection: Connection,
        identity: Identity,
        *,
        witness: Witness | None = None,
        explain: Explain | None = None,
        foreground: Collection[str] = (),
    ) -> None:
        """`foreground`: kinds whose objects, once deleted, stay until what they own is gone."""
        self.identity = identity
        self._foreground = foreground
        self._connection = connection
        self._witness = witness
        self._explain = explain

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object, and return it as stored. Raises ApiError."""
        kind = served(obj.get("apiVersion") or "", obj.get("kind") or "")
        if kind is None:
            message = f'no matches for kind "{obj.get("kind")}" in version "{obj.get("apiVersion")}"'
            raise ApiError(404, "NotFound", message)
        path = path_of(kind, namespace_of(obj) or "default", api_version=obj["apiVersion"])
        return self._do("POST", kind, path, body=obj, dry_run=dry_run)

    def update(self, obj: Object, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replace an object, or a subresource of it."""
        kind = served(obj.get("apiVersion") or "", obj.get("kind") or "")
        if kind is None:
            raise not_served()
        name = name_of(obj)
        path = path_of(kind, namespace_of(obj) or "default", name, subresource, api_version=obj["apiVersion"])
        return self._do("PUT", kind, path, body=obj, dry_run=dry_run)

    def patch(
        self,
        kind: str,
        name: str,
        patch: Any,
        *,
        namespace: str = "",
        type: PatchType = "merge",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Patch an object, or a subresource, by one of the three patch types."""
        served = served_kind(kind)
        path = path_of(served, namespace, name, subresource)
        return self._do("PATCH", served, path, body=patch, content_type=_PATCHES[type], dry_run=dry_run)

    def delete(
        self,
        kind: str,
        name: str,
        *,
        namespace: str = "",
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        """Delete an object; finalizers and a running pod's grace period delay it. Return the last known state."""
        served = served_kind(kind)
        policy = "Foreground" if kind in self._foreground else "Background"
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        conditions = {"uid": uid, "resourceVersion": resource_version}
        if any(conditions.values()):
            options["preconditions"] = {key: value for key, value in conditions.items() if value is not None}
        answer = self._do("DELETE", served, path_of(served, namespace, name), body=options)
        if self._witness is not None and answer.get("kind") == "Status":
            self._witness.gone(served, namespace, name)
        return answer

    def bind(self, name: str, namespace: str, node: str) -> None:
        """Put a pod on a node, by `pods/binding`."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        self._do("POST", KINDS["Pod"], path_of(KINDS["Pod"], namespace, name, "binding"), body=body)
        self._look(KINDS["Pod"], namespace, name)

    def evict(
        self, name: str, namespace: str, *, uid: str | None = None, grace_period_seconds: int | None = None
    ) -> None:
        """Delete a pod by `pods/eviction`, unless a PodDisruptionBudget forbids it."""
        options: dict[str, Any] = {}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        body: dict[str, Any] = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        if options:
            body["deleteOptions"] = options
        self._do("POST", KINDS["Pod"], path_of(KINDS["Pod"], namespace, name, "eviction"), body=body)
        self._look(KINDS["Pod"], namespace, name)

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> Object:
        """Set the number of replicas of a workload, by `…/scale`. Return the workload."""
        served = served_kind(kind)
        patch = {"spec": {"replicas": replicas}}
        path = path_of(served, namespace, name, "scale")
        self._do("PATCH", served, path, body=patch, content_type=_PATCHES["merge"])
        workload: Object = self._connection.request("GET", path_of(served, namespace, name))
        self._tell(served, workload)
        return workload

    def _do(
        self,
        method: str,
        kind: Kind,
        path: str,
        *,
        body: Any,
        content_type: str = "application/json",
        dry_run: bool = False,
    ) -> Object:
        query = {"dryRun": "All"} if dry_run else None
        try:
            answer: Object = self._connection.request(method, path, query=query, body=body, content_type=content_type)
        except ApiError as error:
            if self._explain is None:
                raise
            raise self._explain(error, body if isinstance(body, Mapping) else None) from None
        if not dry_run:
            self._tell(kind, answer)
        return answer

    def _tell(self, kind: Kind, obj: Object) -> None:
        """Report a write to the witness; a Status (of a deletion or a binding) and a Scale are not objects of the kind."""
        if self._witness is not None and obj.get("kind") == kind.kind:
            self._witness.changed(kind, obj)

    def _look(self, kind: Kind, namespace: str, name: str) -> None:
        if self._witness is None:
            return
        try:
            self._witness.changed(kind, self._connection.request("GET", path_of(kind, namespace, name)))
        except ApiError as error:
            if error.code != 404:
                raise
            self._witness.gone(kind, namespace, name)


def served_kind(kind: str) -> Kind:
    """Return the kind of this name. Raises ApiError 404 for one that no server has."""
    served = KINDS.get(kind)
    if served is None:
        raise not_served()
    return served
