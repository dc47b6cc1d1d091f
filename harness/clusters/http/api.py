"""Requests on the memory store, as the API server takes them: verbs, bodies, answers. Knows nothing of sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.clusters.client.paths import Target, parse, served_kinds, subresources
from harness.clusters.http.discovery import Discovery
from harness.clusters.http.events import EVENT_KINDS, ClientEvents
from harness.clusters.memory.selection import by_fields, by_labels
from harness.clusters.memory.store import Store
from harness.clusters.memory.writer import MemoryWriter
from harness.engine.ports import ADMIN, Change, Identity, PatchType
from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Object, name_of, namespace_of
from harness.kube.api.status import ApiError, bad_request, not_found, not_served

__all__ = ["Answer", "Api", "Request", "Stream"]

_PATCHES: Mapping[str, PatchType] = {
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/json-patch+json": "json",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `body` is decoded JSON; `query` has the last value of each parameter."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    identity: Identity = ADMIN


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """A watch: the events to send for changes, from a revision on."""

    since: int
    wants: Callable[[Change], Iterator[Mapping[str, Any]]]
    seconds: float | None
    bookmark: Callable[[int], Mapping[str, Any]] | None
    first: tuple[Mapping[str, Any], ...] = ()


class Api:
    """The API over one store."""

    def __init__(self, store: Store, kubernetes: str, events: ClientEvents) -> None:
        self._store = store
        self._events = events
        self._kinds = {**served_kinds(), **{(kind.api_version, kind.plural): kind for kind in EVENT_KINDS}}
        self._discovery = Discovery(kubernetes)

    def handle(self, request: Request) -> Answer | Stream:
        """Carry out a request. Raises ApiError for everything that is refused or not there."""
        if request.path in ("/healthz", "/livez", "/readyz"):
            return Answer(200, {"status": "ok"})
        document = self._discovery.get(request.path)
        if document is not None and request.method == "GET":
            return Answer(200, document)
        target = parse(request.path, self._kinds)
        if target is None:
            raise not_served(request.path)
        if target.subresource and target.subresource not in subresources(target.kind):
            raise not_served(f"{target.kind.plural}/{target.subresource}")
        self._check_query(request)
        if target.kind in EVENT_KINDS:
            return Answer(*self._events.answer(request.method, target, request.body))
        place = "collection" if not target.name else target.subresource or "object"
        handler = _HANDLERS.get((place, request.method))
        if handler is None:
            raise ApiError(405, "MethodNotAllowed", f"the server does not allow {request.method} on {request.path}")
        return handler(self, request, target)

    @staticmethod
    def _check_query(request: Request) -> None:
        dry_run = request.query.get("dryRun")
        if dry_run not in (None, "", "All"):
            raise bad_request(f'dryRun: Unsupported value: "{dry_run}": supported values: "All"')
        if "applyset" in request.query or request.content_type.startswith("application/apply-patch"):
            raise ApiError(
                415,
                "UnsupportedMediaType",
                "server-side apply is not there; use the merge, strategic merge or JSON patch",
            )

    # Reading.

    def _get(self, request: Request, target: Target) -> Answer:
        return Answer(200, self._present(target))

    def _get_scale(self, request: Request, target: Target) -> Answer:
        return Answer(200, _scale(self._present(target)))

    def _list(self, request: Request, target: Target) -> Answer | Stream:
        query = request.query
        fields = query.get("fieldSelector")
        if query.get("watch") in ("1", "true"):
            return self._watch(query, target)
        by_fields(fields)  # refuses fields that it cannot select by, also where there is nothing to select from
        by_labels(query.get("labelSelector"))
        items = list(
            self._store.list(
                target.kind.kind,
                namespace=target.namespace or None,
                labels=query.get("labelSelector"),
                fields=fields,
            )
        )
        meta: dict[str, Any] = {"resourceVersion": str(self._store.revision)}
        start, limit = int(query.get("continue") or 0), int(query.get("limit") or 0)
        if limit and start + limit < len(items):
            meta |= {"continue": str(start + limit), "remainingItemCount": len(items) - start - limit}
        shown = items[start : start + limit] if limit else items[start:]
        kind = f"{target.kind.kind}List"
        return Answer(200, {"kind": kind, "apiVersion": target.kind.api_version, "metadata": meta, "items": shown})

    def _watch(self, query: Mapping[str, str], target: Target) -> Stream:
        tests = [
            test for test in (by_labels(query.get("labelSelector")), by_fields(query.get("fieldSelector"))) if test
        ]
        kind = target.kind

        def wanted(obj: Object) -> bool:
            inside = not target.namespace or namespace_of(obj) == target.namespace
            return inside and all(test(obj) for test in tests)

        def events(change: Change) -> Iterator[Mapping[str, Any]]:
            if change.object["kind"] != kind.kind:
                return
            now = change.type != "DELETED" and wanted(change.object)
            before = change.old is not None and wanted(change.old)
            if now:
                yield {"type": "MODIFIED" if before else "ADDED", "object": change.object}
            elif before:
                yield {"type": "DELETED", "object": change.object}

        text = query.get("resourceVersion") or ""
        first: list[Mapping[str, Any]] = []
        everything = query.get("sendInitialEvents") in ("1", "true")
        if everything or text in ("", "0"):
            since = self._store.revision
            first += [{"type": "ADDED", "object": test} for test in self._store.list(kind.kind) if wanted(test)]
        else:
            if not text.isdigit():
                raise bad_request(f'Invalid value: "{text}": resourceVersion must be a number')
            since = int(text)
        seconds = float(query["timeoutSeconds"]) if query.get("timeoutSeconds") else None

        def bookmark(revision: int, **meta: Any) -> Mapping[str, Any]:
            meta["resourceVersion"] = str(revision)
            return {
                "type": "BOOKMARK",
                "object": {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta},
            }

        if everything:
            first.append(bookmark(since, annotations={"k8s.io/initial-events-end": "true"}))
        allowed = query.get("allowWatchBookmarks") in ("1", "true")
        return Stream(since, events, seconds, bookmark if allowed else None, tuple(first))

    # Writing.

    def _create(self, request: Request, target: Target) -> Answer:
        obj = self._body(request, target)
        return Answer(201, self._writer(request).create(obj, dry_run=_dry(request)))

    def _update(self, request: Request, target: Target) -> Answer:
        obj = self._body(request, target)
        meta = {**obj["metadata"]}
        if meta.setdefault("name", target.name) != target.name:
            mismatch = "the name of the object ({}) does not match the name on the URL ({})"
            raise bad_request(mismatch.format(meta["name"], target.name))
        sent = {**obj, "metadata": meta}
        return Answer(200, self._writer(request).update(sent, subresource=target.subresource, dry_run=_dry(request)))

    def _patch(self, request: Request, target: Target) -> Answer:
        patched = self._writer(request).patch(
            target.kind.kind,
            target.name,
            request.body,
            namespace=target.namespace,
            type=_patch_type(request),
            subresource=target.subresource,
            dry_run=_dry(request),
        )
        return Answer(200, patched)

    def _put_scale(self, request: Request, target: Target) -> Answer:
        if request.method == "PATCH" and _patch_type(request) == "json":
            raise ApiError(415, "UnsupportedMediaType", "a JSON patch of /scale is not there; use a merge patch")
        spec = (request.body or {}).get("spec") or {}
        if not isinstance(spec.get("replicas"), int):
            raise bad_request("spec.replicas: Required value")
        writer = self._writer(request)
        return Answer(200, _scale(writer.scale(target.kind.kind, target.name, target.namespace, spec["replicas"])))

    def _delete(self, request: Request, target: Target) -> Answer:
        options = request.body or {}
        grace = request.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
        conditions = options.get("preconditions") or {}
        if _dry(request):
            return Answer(200, self._present(target))
        last = self._writer(request).delete(
            target.kind.kind,
            target.name,
            namespace=target.namespace,
            grace_period_seconds=int(grace) if grace is not None else None,
            uid=conditions.get("uid"),
            resource_version=conditions.get("resourceVersion"),
        )
        if target.kind.kind == "Pod" and self._store.get("Pod", target.name, target.namespace) is None:
            marks = {"deletionTimestamp": self._store.clock.timestamp(), "deletionGracePeriodSeconds": 0}
            return Answer(200, {**last, "metadata": {**last["metadata"], **marks}})
        if self._store.get(target.kind.kind, target.name, target.namespace) is not None:
            return Answer(200, last)
        details = {"name": target.name, "kind": target.kind.plural, "uid": last["metadata"]["uid"]}
        if target.kind.group:
            details["group"] = target.kind.group
        return Answer(
            200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        )

    def _delete_all(self, request: Request, target: Target) -> Answer:
        answer = self._list(request, target)
        assert isinstance(answer, Answer)
        writer = self._writer(request)
        for item in answer.body["items"]:
            writer.delete(target.kind.kind, name_of(item), namespace=namespace_of(item))
        return answer

    def _bind(self, request: Request, target: Target) -> Answer:
        node = ((request.body or {}).get("target") or {}).get("name")
        if not node:
            raise bad_request("target.name: Required value")
        self._writer(request).bind(target.name, target.namespace, node)
        return Answer(201, _SUCCESS)

    def _evict(self, request: Request, target: Target) -> Answer:
        options = (request.body or {}).get("deleteOptions") or {}
        self._writer(request).evict(
            target.name,
            target.namespace,
            uid=(options.get("preconditions") or {}).get("uid"),
            grace_period_seconds=options.get("gracePeriodSeconds"),
        )
        return Answer(201, _SUCCESS)

    # Parts.

    def _writer(self, request: Request) -> MemoryWriter:
        return MemoryWriter(self._store, request.identity)

    def _present(self, target: Target) -> Object:
        present = self._store.get(target.kind.kind, target.name, target.namespace)
        if present is None:
            raise not_found(target.kind, target.name)
        return present

    @staticmethod
    def _body(request: Request, target: Target) -> dict[str, Any]:
        """Return the sent object, with kind and namespace of the path where it leaves them out."""
        body = request.body
        if not isinstance(body, Mapping):
            raise bad_request("the body of the request is not a JSON object")
        kind: Kind = target.kind
        obj = {"apiVersion": target.api_version, "kind": kind.kind, **body}
        if (obj["apiVersion"], obj["kind"]) != (target.api_version, kind.kind):
            mismatch = f"{obj['kind']} in version {obj['apiVersion']!r} cannot be handled as a {kind.kind}"
            raise bad_request(f"{mismatch}: the API version in the data does not match the expected API version")
        meta = dict(obj.get("metadata") or {})
        if kind.namespaced:
            if meta.setdefault("namespace", target.namespace) != target.namespace:
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
        else:
            meta.pop("namespace", None)
        return {**obj, "metadata": meta}


_SUCCESS: Mapping[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _dry(request: Request) -> bool:
    return request.query.get("dryRun") == "All"


def _patch_type(request: Request) -> PatchType:
    patch_type = _PATCHES.get(request.content_type.partition(";")[0].strip())
    if patch_type is None:
        accepted = ", ".join(_PATCHES)
        unsupported = "the body of the request was in an unknown format - accepted media types include: "
        raise ApiError(415, "UnsupportedMediaType", unsupported + accepted)
    return patch_type


def _scale(workload: Object) -> Mapping[str, Any]:
    meta = workload["metadata"]
    metadata = {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")}
    spec = workload.get("spec") or {}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": {"replicas": (workload.get("status") or {}).get("replicas", 0)},
    }


_Handler = Callable[[Api, Request, Target], Answer | Stream]

_HANDLERS: Mapping[tuple[str, str], _Handler] = {
    ("collection", "GET"): Api._list,
    ("collection", "POST"): Api._create,
    ("collection", "DELETE"): Api._delete_all,
    ("object", "GET"): Api._get,
    ("object", "PUT"): Api._update,
    ("object", "PATCH"): Api._patch,
    ("object", "DELETE"): Api._delete,
    ("status", "GET"): Api._get,
    ("status", "PUT"): Api._update,
    ("status", "PATCH"): Api._patch,
    ("scale", "GET"): Api._get_scale,
    ("scale", "PUT"): Api._put_scale,
    ("scale", "PATCH"): Api._put_scale,
    ("binding", "POST"): Api._bind,
    ("eviction", "POST"): Api._evict,
}
