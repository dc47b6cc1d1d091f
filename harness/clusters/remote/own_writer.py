"""Writes of a run to a cluster of somebody else: created objects are marked, and objects of others are never written
to.

Each change and each deletion first reads the object from the API server, and then names its uid, so that an object
that took its place meanwhile is not hit; a change also names the resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import path_of
from harness.clusters.client.writer import RestWriter, served_kind
from harness.clusters.remote.ownership import NotOurs, Ownership, reference_of
from harness.engine.ports import Identity, PatchType
from harness.kube.api.objects import Object, is_terminating, metadata_of, name_of, namespace_of, spec_of, uid_of
from harness.kube.api.status import ApiError, not_found

__all__ = ["OwnWriter", "read_with"]

_TRIES = 20
"""The number of times that a change is sent when others write the same object at the same time."""

_KUBELET = "system:node:"


def read_with(connection: Connection) -> Callable[[str, str, str], Object | None]:
    """Return a function that reads the object of a kind, name and namespace from the API server."""

    def read(kind: str, name: str, namespace: str) -> Object | None:
        try:
            answer: Object = connection.request("GET", path_of(served_kind(kind), namespace, name))
        except ApiError as error:
            if error.code != 404:
                raise
            return None
        return {"kind": kind, "apiVersion": served_kind(kind).api_version, **answer}

    return read


class OwnWriter:
    """A Writer that raises NotOurs instead of writing to an object that does not belong to the run."""

    def __init__(self, writer: RestWriter, connection: Connection, ownership: Ownership) -> None:
        self.identity: Identity = writer.identity
        self._writer = writer
        self._read = read_with(connection)
        self._ownership = ownership

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object with the marks of the run, and return it as stored. Raises ApiError."""
        return self._writer.create(self._ownership.stamped(obj), dry_run=dry_run)

    def update(self, obj: Object, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replace an object of the run, or a subresource of it."""
        kind = str(obj.get("kind"))
        present = self._own(kind, name_of(obj), namespace_of(obj))
        new = self._ownership.stamped(obj) if self._ownership.marks(present) else obj
        version = metadata_of(obj).get("resourceVersion") or metadata_of(present)["resourceVersion"]
        meta = {**metadata_of(new), "uid": uid_of(present), "resourceVersion": version}
        return self._writer.update({**new, "metadata": meta}, subresource=subresource, dry_run=dry_run)

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
        """Patch an object of the run, or a subresource of it; try again where others wrote in between."""
        for left in reversed(range(_TRIES)):
            present = self._own(kind, name, namespace)
            try:
                return self._writer.patch(
                    kind,
                    name,
                    self._bound(patch, present),
                    namespace=namespace,
                    type=type,
                    subresource=subresource,
                    dry_run=dry_run,
                )
            except ApiError as error:
                if error.reason != "Conflict" or not left:
                    raise
        raise AssertionError("the last try returns or raises")

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
        """Delete an object of the run; a kubelet also ends a pod on its Node that somebody else has deleted."""
        present = self._present(kind, name, namespace)
        if not self._ends_a_pod(present):
            self._claim(present)
        return self._writer.delete(
            kind,
            name,
            namespace=namespace,
            grace_period_seconds=grace_period_seconds,
            uid=uid or uid_of(present),
            resource_version=resource_version,
        )

    def bind(self, name: str, namespace: str, node: str) -> None:
        """Put a pod of the run on a node."""
        self._own("Pod", name, namespace)
        self._writer.bind(name, namespace, node)

    def evict(
        self, name: str, namespace: str, *, uid: str | None = None, grace_period_seconds: int | None = None
    ) -> None:
        """Evict a pod of the run."""
        present = self._own("Pod", name, namespace)
        self._writer.evict(name, namespace, uid=uid or uid_of(present), grace_period_seconds=grace_period_seconds)

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> Object:
        """Set the number of replicas of a workload of the run."""
        return self.patch(kind, name, {"spec": {"replicas": replicas}}, namespace=namespace)

    def _present(self, kind: str, name: str, namespace: str) -> Object:
        obj = self._read(kind, name, namespace)
        if obj is None:
            raise not_found(served_kind(kind), name)
        return obj

    def _own(self, kind: str, name: str, namespace: str) -> Object:
        obj = self._present(kind, name, namespace)
        self._claim(obj)
        return obj

    def _claim(self, obj: Object) -> None:
        if not self._ownership.owns(obj, self._read):
            raise NotOurs(reference_of(obj), self._ownership.run)

    def _ends_a_pod(self, obj: Object) -> bool:
        node = self.identity.user.removeprefix(_KUBELET)
        if obj["kind"] != "Pod" or node == self.identity.user or not is_terminating(obj):
            return False
        own = self._read("Node", node, "") if spec_of(obj).get("nodeName") == node else None
        return own is not None and self._ownership.owns(own, self._read)

    def _bound(self, patch: Any, present: Object) -> Any:
        """Return a patch that changes this object alone, as it was read."""
        meta = metadata_of(present)
        bounds = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
        if isinstance(patch, list):
            return [
                *({"op": "test", "path": f"/metadata/{key}", "value": value} for key, value in bounds.items()),
                *patch,
            ]
        changed = {**patch, "metadata": {**metadata_of(patch), **bounds}}
        templates = spec_of(patch).get("volumeClaimTemplates")
        if present["kind"] == "StatefulSet" and templates:  # they cannot be changed, so they keep their marks
            stamped = self._ownership.stamped({**present, "spec": {"volumeClaimTemplates": templates}})
            changed["spec"] = {**spec_of(patch), "volumeClaimTemplates": stamped["spec"]["volumeClaimTemplates"]}
        return changed
