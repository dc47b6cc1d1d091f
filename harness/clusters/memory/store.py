"""The API server's store: objects, their metadata, conflicts, finalizers, and a log that watches read.

Stored objects are never changed in place: a write puts a new object beside the old one, sharing what is equal.
What comes from a caller is copied once; what is handed out is the stored object itself.
Semantics: apiserver pkg/registry/generic/registry/store.go, pkg/registry/rest/{create,update,delete}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.clusters.memory.index import Index
from harness.clusters.memory.journal import Entry, Journal
from harness.clusters.memory.parts import grace_period, merged_parts
from harness.clusters.memory.request import Admission, Authorizer, Request
from harness.clusters.memory.selection import by_fields, by_labels
from harness.engine.clock import SECOND, Clock, render
from harness.engine.ids import Ids
from harness.engine.ports import Change, ChangeType, Identity
from harness.kube.api.kinds import KINDS, Kind, served
from harness.kube.api.objects import Key, Object, copy_json, is_held
from harness.kube.api.status import ApiError, already_exists, conflict, gone, not_found, precondition_failed

_API_VERBS: Mapping[str, str] = {"bind": "create"}

_KEPT_BY_SERVER = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
_OUTSIDE_GENERATION = frozenset({"metadata", "status", "apiVersion", "kind"})


class Store:
    """The objects of one cluster."""

    def __init__(
        self, clock: Clock, ids: Ids, *, admission: Sequence[Admission] = (), log_limit: int | None = None
    ) -> None:
        self.clock = clock
        self.journal = Journal()
        self.admission: list[Admission] = list(admission)
        self.authorize: Authorizer = lambda identity, verb, kind, subresource, key: None
        self.revision = 0
        self._ids = ids
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._uids: set[str] = set()
        self._index = Index()
        self._log: list[Change] = []
        self._log_limit = log_limit
        self._subscribers: list[Callable[[Change], None]] = []

    # Reading: the View port.

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object of this name, or None."""
        objects = self._objects.get(kind)
        return objects.get((namespace, name)) if objects else None

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Sequence[Object]:
        """All objects of a kind in order of creation, filtered by namespace and selectors."""
        objects = self._objects.get(kind)
        if not objects:
            return []
        found: Sequence[Object] = list(objects.values())
        if namespace is not None:
            found = [each for each in found if (each["metadata"].get("namespace") or "") == namespace]
        for predicate in (by_labels(labels), by_fields(fields)):
            if predicate is not None:
                found = [each for each in found if predicate(each)]
        return found

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        """The objects of a named index with this value."""
        return self._index.get(index, value)

    def exists(self, uid: str) -> bool:
        """Whether an object of this uid is stored."""
        return uid in self._uids

    def changes(self, since: int, kind: str | None = None) -> Iterator[Change]:
        """The watch events after a resourceVersion. Raises ApiError 410 when the log no longer reaches back."""
        first = self._log[0].revision if self._log else self.revision + 1
        if since + 1 < first and since < self.revision:
            raise gone(f"too old resource version: {since} ({first})")
        low, high = 0, len(self._log)
        while low < high:
            middle = (low + high) // 2
            if self._log[middle].revision <= since:
                low = middle + 1
            else:
                high = middle
        for change in self._log[low:]:
            if kind is None or change.object["kind"] == kind:
                yield change

    def adopt(self, obj: Object) -> None:
        """Puts in an object that was there before anybody asked: nothing is told of it."""
        kind, meta = obj["kind"], obj["metadata"]
        slot = (meta.get("namespace") or "", meta["name"])
        self._objects.setdefault(kind, {})[slot] = obj
        self._uids.add(meta["uid"])
        self._index.put((kind, *slot), None, obj)

    def subscribe(self, receive: Callable[[Change], None]) -> None:
        """Calls `receive` for every change from now on, before the write returns."""
        self._subscribers.append(receive)

    # Writing: what a Writer calls with its identity.

    def create(self, obj: Object, identity: Identity, *, dry_run: bool = False) -> Object:
        """Creates an object. Raises ApiError: 400, 404 (unknown kind), 409 AlreadyExists, or what admission says."""
        new = copy_json(obj)
        kind = served(new.get("apiVersion") or "", new.get("kind") or "")
        if kind is None:
            what = f'no matches for kind "{new.get("kind")}" in version "{new.get("apiVersion")}"'
            raise ApiError(404, "NotFound", what)
        meta = new.get("metadata")
        if not isinstance(meta, dict):
            meta = new["metadata"] = {}
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
        meta["uid"] = self._ids.uid()
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
            new = request.object
            for judge in self.admission:
                new = judge(request if new is request.object else request.of(new))
            if taken:
                raise already_exists(request.kind, request.key.name)
        except ApiError as error:
            self._refused(request, error)
            raise
        return new

    def update(self, obj: Object, identity: Identity, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replaces an object (or its status). Raises ApiError 404, 409 Conflict, or what admission says."""
        new = copy_json(obj)
        kind = served(new.get("apiVersion") or "", new.get("kind") or "")
        if kind is None:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
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
        """Applies a pure function to the stored object and stores what it answers (patches, scale, binding)."""
        kind = KINDS.get(key.kind)
        if kind is None:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
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
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        sent = change(old)
        new = merged_parts(kind, subresource, old, sent)
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
        meta = new["metadata"]
        meta["resourceVersion"] = old_meta["resourceVersion"]
        for field in _KEPT_BY_SERVER:
            if field in old_meta:
                meta[field] = old_meta[field]
            else:
                meta.pop(field, None)
        new = self._admit(request, False)
        if new == old:
            return old
        if kind.generation and any(new.get(field) != old.get(field) for field in {*new, *old} - _OUTSIDE_GENERATION):
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
        """Deletes, or marks for deletion when finalizers or a pod's grace period hold it. Raises ApiError 404, 409."""
        kind = KINDS.get(key.kind)
        if kind is None:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
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
        grace = grace_period(kind, old, grace_period_seconds)
        present = meta.get("deletionGracePeriodSeconds")
        if meta.get("deletionTimestamp"):
            if grace is not None and present is not None and grace < present:
                if grace == 0 and not meta.get("finalizers"):
                    return self._remove(request, old)
                return self._commit(request, self._marked(kind, old, grace))
            return old if present or is_held(old) else self._remove(request, old)
        if grace or is_held(old):
            return self._commit(request, self._marked(kind, old, grace or 0))
        return self._remove(request, old)

    def _marked(self, kind: Kind, old: Object, grace: int) -> dict[str, Any]:
        meta = {
            **old["metadata"],
            "deletionTimestamp": render(self.clock.now + grace * SECOND),
            "deletionGracePeriodSeconds": grace,
        }
        if kind.generation and "generation" in meta and not old["metadata"].get("deletionTimestamp"):
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
        self.journal.record(
            Entry(
                self.revision,
                self.clock.now,
                request.identity,
                request.verb,
                request.key,
                request.subresource,
                request.old,
                None,
                request.object,
                error,
            )
        )

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
        key = request.key
        objects = self._objects.setdefault(key.kind, {})
        slot = (key.kind, key.namespace, key.name)
        gone_now = type is ChangeType.DELETED
        if gone_now:
            del objects[(key.namespace, key.name)]
            self._uids.discard(new["metadata"]["uid"])
            self._index.put(slot, old, None)
        else:
            objects[(key.namespace, key.name)] = new
            self._uids.add(new["metadata"]["uid"])
            self._index.put(slot, old, new)
        self.journal.record(
            Entry(
                self.revision,
                self.clock.now,
                request.identity,
                request.verb,
                key,
                request.subresource,
                old,
                None if gone_now else new,
                request.object,
            )
        )
        change = Change(type, new, old, self.revision)
        self._log.append(change)
        if self._log_limit is not None and len(self._log) > self._log_limit:
            del self._log[: len(self._log) - self._log_limit]
        for receive in self._subscribers:
            receive(change)


def _version_required(kind: Kind, name: str) -> ApiError:
    """Custom resources are not replaced unconditionally; core kinds are."""
    body = "Invalid value: 0: must be specified for an update"
    field = "metadata.resourceVersion"
    causes = [{"reason": "FieldValueInvalid", "message": body, "field": field}]
    details = {"name": name, "group": kind.group, "kind": kind.plural, "causes": causes}
    return ApiError(422, "Invalid", f'{kind.resource} "{name}" is invalid: {field}: {body}', details=details)
