"""The API server's store: writes of objects, with their metadata, conflicts and finalizers.

Stored objects are never changed in place: a write puts a new object beside the old one, sharing equal parts.
Objects of a caller are copied once; readers get the stored object itself.
Semantics: apiserver pkg/registry/generic/registry/store.go, pkg/registry/rest/{create,update,delete}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.clusters.memory.journal import Journal
from harness.clusters.memory.objects import Objects
from harness.clusters.memory.request import Admission, Authorizer, Request
from harness.clusters.memory.update_strategy import grace_period, lasting, prepared_for_update
from harness.engine.clock import SECOND, Clock, parse, render
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Change, ChangeType, Identity
from harness.kube.admission.workload_defaults import with_generated_selector
from harness.kube.api.builtin_kinds import unserved
from harness.kube.api.kinds import KINDS, Kind, served
from harness.kube.api.objects import Key, Object, copy_json, differ, frozen, is_held
from harness.kube.api.status import ApiError, already_exists, conflict, not_found, not_served, precondition_failed

_API_VERBS: Mapping[str, str] = {"bind": "create"}

_KEPT_BY_SERVER = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
_OUTSIDE_GENERATION = frozenset({"metadata", "status", "apiVersion", "kind"})


class Store(Objects):
    """The objects of one cluster, and the plugins that judge writes."""

    def __init__(
        self, clock: Clock, ids: Ids, *, admission: Mapping[str, Admission] | None = None, log_limit: int | None = None
    ) -> None:
        super().__init__(log_limit)
        self.clock = clock
        self.journal = Journal()
        self.admission: dict[str, Admission] = dict(admission or {})
        """The judges of a write by name, in their order. A judge of the same name takes the other's place."""
        self.authorize: Authorizer = lambda identity, verb, kind, subresource, key: None
        self._ids = ids

    # Writing: the calls of a Writer, with its identity.

    def create(self, obj: Object, identity: Identity, *, dry_run: bool = False) -> Object:
        """Create an object. Raises ApiError: 400, 404 (unknown kind), 409 AlreadyExists, or a refusal of admission."""
        new = dict(frozen(obj))
        kind = served(new.get("apiVersion") or "", new.get("kind") or "")
        if kind is None:
            message = unserved(new.get("apiVersion") or "", new.get("kind") or "")
            raise ApiError(404, "NotFound", message)
        meta = new.get("metadata")
        meta = new["metadata"] = dict(meta) if isinstance(meta, dict) else {}
        namespace = self._namespace(kind, meta)
        self.authorize(identity, "create", kind, "", Key(kind.kind, namespace, ""))
        generated = False
        if not meta.get("name"):
            base = meta.get("generateName")
            if not base:
                raise ApiError(
                    422,
                    "Invalid",
                    f'{kind.kind}{"." + kind.group if kind.group else ""} "" is invalid: '
                    "metadata.name: Required value: name or generateName is required",
                )
            meta["name"] = self._ids.generate_name(base)
            generated = True
        if meta.get("resourceVersion"):
            # a plain error of the storage layer, hence no reason
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        for field in ("uid", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"):
            meta.pop(field, None)
        if kind.status_subresource and not kind.status_on_create:
            new.pop("status", None)
        key = Key(kind.kind, namespace, meta["name"])
        objects = self._objects.setdefault(kind.kind, {})
        taken = (namespace, key.name) in objects
        while taken and generated:
            meta["name"] = self._ids.generate_name(meta["generateName"])
            key = Key(kind.kind, namespace, meta["name"])
            taken = (namespace, key.name) in objects
        request = Request("create", identity, kind, key, "", new, None)
        new = self._admit(request, taken)
        meta = new["metadata"]
        meta["uid"] = self._ids.uid(f"{kind.kind}/{namespace}/{request.asked_name}")
        if kind.kind == "Job":
            new = with_generated_selector(new)
        meta["creationTimestamp"] = self.clock.timestamp()
        if kind.generation:
            meta["generation"] = 1
        else:
            meta.pop("generation", None)
        if dry_run:
            return new
        return self._commit(request, new)

    def _admit(self, request: Request, taken: bool) -> dict[str, Any]:
        try:
            judged = request
            for judge in self.admission.values():
                new = judge(judged)
                if new is not judged.object:
                    judged = judged.with_object(new)
            if taken:
                raise already_exists(request.kind, request.key.name)
        except ApiError as error:
            self._refused(request, error)
            raise
        return judged.object

    def update(self, obj: Object, identity: Identity, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replace an object (or its status). Raises ApiError 404, 409 Conflict, or a refusal of admission."""
        new = copy_json(obj)
        kind = served(new.get("apiVersion") or "", new.get("kind") or "")
        if kind is None:
            raise not_served()
        meta = new.get("metadata") or {}
        key = Key(kind.kind, self._namespace(kind, meta), meta.get("name") or "")
        return self._replace("update", key, kind, lambda _: new, identity, subresource, dry_run)

    def modify(
        self,
        verb: str,
        key: Key,
        change: Callable[[Object], dict[str, Any]],
        identity: Identity,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Apply a pure function to the stored object and store its result (patches, scale, binding)."""
        kind = KINDS.get(key.kind)
        if kind is None:
            raise not_served()
        return self._replace(verb, key, kind, change, identity, subresource, dry_run)

    def _replace(
        self,
        verb: str,
        key: Key,
        kind: Kind,
        change: Callable[[Object], dict[str, Any]],
        identity: Identity,
        subresource: str,
        dry_run: bool,
    ) -> Object:
        self.authorize(identity, _API_VERBS.get(verb, verb), kind, subresource, key)
        old = self.get(key.kind, key.name, key.namespace)
        if old is None:
            raise not_found(kind, key.name)
        if subresource == "status" and not kind.status_subresource:
            raise not_served()
        sent = change(old)
        new = prepared_for_update(kind, subresource, old, sent)
        old_meta, sent_meta = old["metadata"], sent.get("metadata") or {}
        version = sent_meta.get("resourceVersion")
        request = Request(verb, identity, kind, key, subresource, new, old)
        if not version and verb == "update" and kind.custom:
            error = _version_required(kind, key.name)
            self._refused(request, error)
            raise error
        if version and version != old_meta["resourceVersion"]:
            error = conflict(kind, key.name)
            self._refused(request, error)
            raise error
        if sent_meta.get("uid") and sent_meta["uid"] != old_meta["uid"]:
            error = conflict(
                kind,
                key.name,
                f"Precondition failed: UID in precondition: {sent_meta['uid']}, UID in object meta: {old_meta['uid']}",
            )
            self._refused(request, error)
            raise error
        if subresource != "status":  # which leaves the metadata alone
            _keep_what_is_the_servers(new["metadata"], old_meta)
        new = self._admit(request, False)
        if new == old:
            return old
        if kind.generation and differ(new, old, outside=_OUTSIDE_GENERATION):
            new["metadata"]["generation"] = old_meta.get("generation", 0) + 1
        if dry_run:
            return new
        return self._commit(request, new)

    def delete(
        self,
        key: Key,
        identity: Identity,
        *,
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        """Delete, or mark for deletion when finalizers or a pod's grace period hold it. Raises ApiError 404, 409."""
        kind = KINDS.get(key.kind)
        if kind is None:
            raise not_served()
        self.authorize(identity, "delete", kind, "", key)
        old = self.get(key.kind, key.name, key.namespace)
        if old is None:
            raise not_found(kind, key.name)
        meta = old["metadata"]
        request = Request("delete", identity, kind, key, "", dict(old), old)
        self._admit(request, False)
        for name, wanted, actual in (
            ("UID", uid, meta["uid"]),
            ("ResourceVersion", resource_version, meta["resourceVersion"]),
        ):
            if wanted is not None and wanted != actual:
                error = precondition_failed(kind, key.name, name, wanted, actual)
                self._refused(request, error)
                raise error
        if meta.get("deletionTimestamp"):
            return self._delete_again(request, old, grace_period_seconds)
        grace = grace_period(kind, old, grace_period_seconds)
        if grace or is_held(old):
            return self._commit(request, self._marked(kind, old, grace or 0))
        return self._remove(request, old)

    def _delete_again(self, request: Request, old: Object, requested: int | None) -> Object:
        """Delete an object that is being deleted: only a shorter grace period, counted from the first deletion, changes
        anything.

        Source: apiserver pkg/registry/rest/delete.go (BeforeDelete).
        """
        meta = old["metadata"]
        present = meta.get("deletionGracePeriodSeconds")
        if not present:
            return old if is_held(old) else self._remove(request, old)
        grace = present if requested is None else lasting(requested)
        if grace >= present:
            return old
        due = parse(meta["deletionTimestamp"]) - (present - grace) * SECOND
        if due < self.clock.now:
            due, grace = self.clock.now, min(grace, 1)
        times = {"deletionTimestamp": render(due), "deletionGracePeriodSeconds": grace}
        return self._commit(request, {**old, "metadata": {**meta, **times}})

    def _marked(self, kind: Kind, old: Object, grace: int) -> dict[str, Any]:
        meta = {
            **old["metadata"],
            "deletionTimestamp": render(self.clock.now + grace * SECOND),
            "deletionGracePeriodSeconds": grace,
        }
        if kind.generation and "generation" in meta:
            meta["generation"] += 1
        marked = {**old, "metadata": meta}
        return {**marked, "status": {"phase": "Terminating"}} if kind.kind == "Namespace" else marked

    def _namespace(self, kind: Kind, meta: dict[str, Any]) -> str:
        if kind.namespaced:
            if not meta.get("namespace"):
                meta["namespace"] = "default"
            return str(meta["namespace"])
        meta.pop("namespace", None)
        return ""

    def _refused(self, request: Request, error: ApiError) -> None:
        self.journal.refused(self.clock.now, request, self.revision, error)

    def backdate(self, kind: str, name: str, moment: str) -> None:
        """Give a cluster-scoped object another creationTimestamp: it was there before this world. Raises ApiError 404."""
        stored, row = self.get(kind, name), KINDS[kind]
        if stored is None:
            raise not_found(row, name)
        new = {**stored, "metadata": {**stored["metadata"], "creationTimestamp": moment}}
        self._commit(Request("update", ADMIN, row, Key(kind, "", name), "", new, stored), new)

    def _commit(self, request: Request, new: dict[str, Any]) -> Object:
        old = request.old
        meta = new["metadata"]
        if old is not None and meta.get("deletionTimestamp") and not is_held(new):
            if not meta.get("deletionGracePeriodSeconds"):
                return self._remove(request, new)
            meta.pop("finalizers", None)
        self.revision += 1
        meta["resourceVersion"] = str(self.revision)
        self._put(request, old, new, ChangeType.ADDED if old is None else ChangeType.MODIFIED)
        return new

    def _remove(self, request: Request, last: Object) -> Object:
        self.revision += 1
        last = {**last, "metadata": {**last["metadata"], "resourceVersion": str(self.revision)}}
        self._put(request, request.old, last, ChangeType.DELETED)
        return last

    def _put(self, request: Request, old: Object | None, new: Object, type: ChangeType) -> None:
        self._keep(request.key, old, None if type is ChangeType.DELETED else new)
        change = Change(type, new, old, self.revision)
        self.journal.written(self.clock.now, request, change)
        self._tell(change)


def _keep_what_is_the_servers(meta: dict[str, Any], old: Mapping[str, Any]) -> None:
    meta["resourceVersion"] = old["resourceVersion"]
    for field in _KEPT_BY_SERVER:
        if field in old:
            meta[field] = old[field]
        else:
            meta.pop(field, None)


def _version_required(kind: Kind, name: str) -> ApiError:
    """Return the error of a replacement without resourceVersion, which custom resources need and core kinds do not."""
    body = "Invalid value: 0: must be specified for an update"
    field = "metadata.resourceVersion"
    causes = [{"reason": "FieldValueInvalid", "message": body, "field": field}]
    details = {"name": name, "group": kind.group, "kind": kind.plural, "causes": causes}
    return ApiError(422, "Invalid", f'{kind.resource} "{name}" is invalid: {field}: {body}', details=details)
