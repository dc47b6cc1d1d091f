"""Kubernetes Events that clients write, in both APIs that serve them. They go to the world's sink; nothing here decides by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.clusters.client.paths import Target
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import Sink
from harness.kube.api.kinds import Kind
from harness.kube.api.patch import merge_patch
from harness.kube.api.status import ApiError, already_exists, bad_request, not_found

__all__ = ["EVENT_KINDS", "ClientEvents"]

CORE = Kind("", "v1", "Event", "events", True, status_subresource=False, generation=False)
EVENTS = Kind("events.k8s.io", "v1", "Event", "events", True, status_subresource=False, generation=False)

EVENT_KINDS = (CORE, EVENTS)

_TO_EVENTS = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
}
"""Fields of the core Event by their names in events.k8s.io (kubernetes pkg/apis/events/v1/conversion.go)."""
_TO_CORE = {new: old for old, new in _TO_EVENTS.items()}


class ClientEvents:
    """The Events of one cluster, kept as the core API has them. Each new one, and each whose count grows, goes to the sink."""

    def __init__(self, clock: Clock, ids: Ids, sink: Sink, revision: Callable[[], int]) -> None:
        """`revision` returns the store's: Events have no resourceVersions of their own."""
        self._clock = clock
        self._ids = ids
        self._sink = sink
        self._revision = revision
        self._found: dict[tuple[str, str], dict[str, Any]] = {}

    def answer(self, method: str, target: Target, body: Any) -> tuple[int, Mapping[str, Any]]:
        """Status and body of the answer to a request about Events. Raises ApiError."""
        kind, namespace, name = target.kind, target.namespace, target.name
        if method in ("POST", "PATCH") and not isinstance(body, Mapping):
            raise bad_request("the body of the request is not a JSON object")
        if method == "POST" and not name:
            return 201, self.create(kind, namespace, body)
        if method == "PATCH" and name:
            return 200, self.patch(kind, namespace, name, body)
        if method == "GET" and name:
            return 200, self.get(kind, namespace, name)
        if method == "GET":
            meta = {"resourceVersion": str(self._revision())}
            items = self.list(kind, namespace)
            return 200, {"kind": "EventList", "apiVersion": kind.api_version, "metadata": meta, "items": items}
        raise ApiError(405, "MethodNotAllowed", f"the server does not allow {method} on events")

    def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a new Event. Raises ApiError 409."""
        event = _renamed(body, _TO_CORE) if kind is EVENTS else dict(body)
        meta = dict(event.get("metadata") or {})
        name = meta.get("name") or self._ids.generate_name(meta.get("generateName") or "event-")
        if (namespace, name) in self._found:
            raise already_exists(kind, name)
        created = self._clock.timestamp()
        uid = self._ids.uid(f"Event/{namespace}")
        meta |= {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": created}
        return self._keep({**event, "metadata": meta}, kind)

    def patch(self, kind: Kind, namespace: str, name: str, patch: Mapping[str, Any]) -> Mapping[str, Any]:
        """Change an Event, as recorders do to count up a known one. Raises ApiError 404."""
        changes = _renamed(patch, _TO_CORE) if kind is EVENTS else patch
        return self._keep(merge_patch(self._present(kind, namespace, name), changes), kind)

    def get(self, kind: Kind, namespace: str, name: str) -> Mapping[str, Any]:
        """One Event. Raises ApiError 404."""
        return self._shown(self._present(kind, namespace, name), kind)

    def list(self, kind: Kind, namespace: str) -> list[Mapping[str, Any]]:
        """The Events of a namespace, of all when there is none, oldest first."""
        return [self._shown(event, kind) for (place, _), event in self._found.items() if namespace in ("", place)]

    def _present(self, kind: Kind, namespace: str, name: str) -> dict[str, Any]:
        event = self._found.get((namespace, name))
        if event is None:
            raise not_found(kind, name)
        return event

    def _keep(self, event: dict[str, Any], kind: Kind) -> Mapping[str, Any]:
        meta = event["metadata"]
        stored = {**event, "metadata": {**meta, "resourceVersion": str(self._revision())}}
        self._found[(meta["namespace"], meta["name"])] = stored
        about = event.get("involvedObject") or {}
        subject = {
            "apiVersion": about.get("apiVersion") or "",
            "kind": about.get("kind") or "",
            "metadata": {"name": about.get("name") or "", "namespace": about.get("namespace") or ""},
        }
        source = event.get("reportingComponent") or (event.get("source") or {}).get("component") or ""
        texts = event.get("type") or "", event.get("reason") or "", event.get("message") or ""
        self._sink.event(subject, *texts, source=source, dedupe_seconds=0)
        return self._shown(stored, kind)

    @staticmethod
    def _shown(event: Mapping[str, Any], kind: Kind) -> Mapping[str, Any]:
        fields = _renamed(event, _TO_EVENTS) if kind is EVENTS else event
        return {**fields, "apiVersion": kind.api_version, "kind": "Event"}


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(field, field): value for field, value in fields.items()}
