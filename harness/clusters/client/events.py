"""The Kubernetes Events of a cluster's own controllers, as they come."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from dataclasses import dataclass

from harness.clusters.client.connection import Connection
from harness.clusters.client.watch import Heard, Watch
from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Object

__all__ = ["SCHEDULER_NAME", "EventFeed", "ObservedEvent"]

SCHEDULER_NAME = "default-scheduler"
"""The name with which kube-scheduler signs its Events."""

_EVENTS = Kind("events.k8s.io", "v1", "Event", "events", True, status_subresource=False, generation=False)


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """One Event: `object` is the object that it is about, as far as the Event says (kind, namespace, name)."""

    object: Object
    type: str
    reason: str
    message: str
    source: str


class EventFeed:
    """Watches Events on a thread of its own; `take` hands out what came since the last time."""

    def __init__(self, connection: Connection) -> None:
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._watch = Watch(connection, _EVENTS, self._heard.put)
        self._started = False

    def start(self) -> None:
        """Begin to listen, from now on."""
        if not self._started:
            self._started = True
            self._watch.list()
            self._watch.start()

    def stop(self) -> None:
        """End the watch."""
        self._watch.stop()

    def take(self) -> Sequence[ObservedEvent]:
        """Return the Events that came since the last call; one that is only counted up is left out."""
        events: list[ObservedEvent] = []
        while True:
            try:
                heard = self._heard.get_nowait()
            except queue.Empty:
                return events
            if heard.type == "ADDED" and heard.object is not None:
                events.append(_told(heard.object))

    def take_of(self, sources: Sequence[str]) -> Sequence[ObservedEvent]:
        """The Events of these senders since the last call; those of others are dropped."""
        return [event for event in self.take() if event.source in sources]


def _told(event: Object) -> ObservedEvent:
    about = event.get("regarding") or {}
    meta = {"name": about.get("name") or "", "namespace": about.get("namespace") or "", "uid": about.get("uid") or ""}
    source = event.get("reportingController") or (event.get("deprecatedSource") or {}).get("component") or ""
    return ObservedEvent(
        {"apiVersion": about.get("apiVersion") or "", "kind": about.get("kind") or "", "metadata": meta},
        event.get("type") or "",
        event.get("reason") or "",
        event.get("note") or "",
        source,
    )
