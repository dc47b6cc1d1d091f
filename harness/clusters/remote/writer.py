"""Writes of a world to a remote cluster: journaled, and patient where a real API server is a moment behind itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.clusters.client.mirror import Mirror
from harness.clusters.memory.journal import Entry, Journal
from harness.clusters.waiting import TimedOut, poll
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import Identity, PatchType, Writer
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Key, Object, name_of, namespace_of
from harness.kube.api.status import ApiError

__all__ = ["AttachedWriter"]

_BEHIND = (
    "can only update pod status for pods with spec.nodeName set to itself",
    "can only delete pods with spec.nodeName set to itself",
)
"""The words of NodeRestriction when its cache does not know yet that a pod was bound."""

_PATIENCE = 5.0
_NEWS = 0.2


class AttachedWriter:
    """A Writer whose requests are kept in a journal."""

    def __init__(
        self,
        writer: Writer,
        view: Mirror,
        journal: Journal,
        clock: Clock,
        ids: Ids,
        attached: Callable[[], None] = lambda: None,
    ) -> None:
        """`attached` raises where the cluster is not this world's any more."""
        self._attached = attached
        self._ids = ids
        self.identity: Identity = writer.identity
        self._writer = writer
        self._view = view
        self._journal = journal
        self._clock = clock

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object, and return it as stored. Raises ApiError."""
        meta = obj.get("metadata") or {}
        if meta.get("generateName") and not meta.get("name"):
            # drawn here, so that a run has the same names as on the memory cluster
            obj = {**obj, "metadata": {**meta, "name": self._ids.generate_name(meta["generateName"])}}
        created = self._note(
            "create", _key(obj), obj, lambda: self._writer.create(obj, dry_run=dry_run), dry_run=dry_run
        )
        if created.get("kind") == "Namespace" and not dry_run:
            self._serve(name_of(created))
        return created

    def update(self, obj: Object, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replace an object, or a subresource of it."""
        return self._note(
            "update",
            _key(obj),
            obj,
            lambda: self._writer.update(obj, subresource=subresource, dry_run=dry_run),
            subresource=subresource,
            dry_run=dry_run,
        )

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
        """Patch an object, or a subresource."""
        return self._note(
            "patch",
            Key(kind, namespace, name),
            None,
            lambda: self._writer.patch(
                kind, name, patch, namespace=namespace, type=type, subresource=subresource, dry_run=dry_run
            ),
            subresource=subresource,
            dry_run=dry_run,
        )

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
        """Delete an object."""
        return self._note(
            "delete",
            Key(kind, namespace, name),
            None,
            lambda: self._writer.delete(
                kind,
                name,
                namespace=namespace,
                grace_period_seconds=grace_period_seconds,
                uid=uid,
                resource_version=resource_version,
            ),
        )

    def bind(self, name: str, namespace: str, node: str) -> None:
        """Put a pod on a node."""
        self._writer.bind(name, namespace, node)

    def evict(
        self, name: str, namespace: str, *, uid: str | None = None, grace_period_seconds: int | None = None
    ) -> None:
        """Evict a pod."""
        self._writer.evict(name, namespace, uid=uid, grace_period_seconds=grace_period_seconds)

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> Object:
        """Set the number of replicas of a workload."""
        return self._writer.scale(kind, name, namespace, replicas)

    def _note(
        self,
        verb: str,
        key: Key,
        sent: Object | None,
        request: Callable[[], Object],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        self._attached()
        before = self._view.get(key.kind, key.name, key.namespace) if verb != "create" and key.kind in KINDS else None
        try:
            result = self._patiently(request)
        except ApiError as error:
            self._record(verb, key, subresource, before, None, sent, error)
            if error.reason == "Conflict":
                # our copy was behind; a caller who tries again at once must not see it unchanged
                self._view.pump(_NEWS)
            raise
        if dry_run:
            return result
        if result.get("kind") == key.kind:
            # the object in the mirror: in virtual time, without managedFields
            result = self._view.get(key.kind, name_of(result), namespace_of(result)) or result
            key = _key(result)
        self._record(verb, key, subresource, before, None if verb == "delete" else result, sent, None)
        return result

    def _patiently(self, request: Callable[[], Object]) -> Object:
        last: list[ApiError] = []

        def attempt() -> Object | None:
            try:
                return request()
            except ApiError as error:
                if not self.identity.user.startswith("system:node:") or not error.message.endswith(_BEHIND):
                    raise
                last.append(error)
                return None

        try:
            return poll(attempt, "the API server to know of a binding", seconds=_PATIENCE)
        except TimedOut:
            raise last[-1] from None

    def _serve(self, namespace: str) -> None:
        """Wait for the service account of a namespace: a real API server takes no pods before."""
        if self._view.serves_accounts:
            waited = f"the service account of namespace {namespace}"
            poll(lambda: self._view.get("ServiceAccount", "default", namespace), waited, seconds=30)

    def _record(
        self,
        verb: str,
        key: Key,
        subresource: str,
        before: Object | None,
        after: Object | None,
        sent: Object | None,
        error: ApiError | None,
    ) -> None:
        entry = Entry(
            self._view.revision, self._clock.now, self.identity, verb, key, subresource, before, after, sent, error
        )
        self._journal.record(entry)


def _key(obj: Object) -> Key:
    kind = KINDS.get(obj.get("kind") or "")
    namespace = (namespace_of(obj) or "default") if kind is not None and kind.namespaced else ""
    return Key(obj.get("kind") or "", namespace, name_of(obj))
