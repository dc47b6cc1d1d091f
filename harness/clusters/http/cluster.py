"""The HTTP cluster put together: a memory cluster with a loop of its own behind a socket, and the ports that lead to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from types import TracebackType
from typing import Any

from harness.clusters.client.connection import Connection
from harness.clusters.client.events import ObservedEvent
from harness.clusters.client.mirror import Mirror
from harness.clusters.client.writer import RestWriter
from harness.clusters.cluster import RealMachines
from harness.clusters.control_plane.rejections import explainer
from harness.clusters.http.events import ClientEvents
from harness.clusters.http.server import ApiServer
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.provenance import Evidence
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import Identity, Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Key, Object
from harness.kube.workloads.loads import Curve

__all__ = ["HttpCluster"]


class _Events:
    """The sink of the controllers behind the socket: their events also wait here to be fetched."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.told: list[ObservedEvent] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def event(
        self,
        obj: Object,
        type: str,
        reason: str,
        message: str,
        *,
        source: str = "karpenter",
        dedupe_seconds: float = 120,
    ) -> bool:
        """Keep an event and hand it on."""
        self.told.append(ObservedEvent(obj, type, reason, message, source))
        return self._sink.event(obj, type, reason, message, source=source, dedupe_seconds=dedupe_seconds)


class HttpCluster:
    """`view` is a mirror, `writer(identity)` sends requests; scheduler and workload controllers run behind the socket.

    With the `clock` of a world both live in the same virtual time.
    """

    name = "http"
    real_machines: RealMachines | None = None
    machines: Collection[str] = ()

    def __init__(self, sink: Sink, *, crds: Crds, kubernetes: str, clock: Clock | None = None, seed: int = 0) -> None:
        self._crds = crds
        self._forgotten = 0
        rng = Rng(seed)
        engine = Engine(clock or Clock())
        self._events = _Events(sink)
        ids = Ids(rng)
        self._memory = MemoryCluster(engine, rng, ids, self._events, crds=crds, kubernetes=kubernetes)
        store = self._memory.store
        events = ClientEvents(engine.clock, ids, self._events, lambda: store.revision)
        self.server = ApiServer(store, kubernetes=kubernetes, events=events, settle=engine.settle)
        self._writers: dict[Identity, RestWriter] = {}
        self._connections: list[Connection] = []
        self.view = Mirror(self._connection(None))

    def start(self) -> HttpCluster:
        """Begin to answer and to watch."""
        self.server.start()
        self.view.start()
        return self

    def stop(self) -> None:
        """End the watches and close the port."""
        self.view.stop()
        for connection in self._connections:
            connection.close()
        self.server.stop()

    def __enter__(self) -> HttpCluster:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def deaths(self) -> str:
        """Return "": no part of it is watched from here."""
        return ""

    def reset(self) -> None:
        """Take all machines away: here they are only objects."""

    def forget(self) -> None:
        """Leave the evidence so far out of later answers, and the Events so far."""
        with self.server.lock:
            self._forgotten = len(self._memory.journal)
            self._events.told.clear()

    def observed_events(self, *sources: str) -> Sequence[ObservedEvent]:
        """The Events of these senders since the last call; those of others are dropped."""
        with self.server.lock:
            events, self._events.told = self._events.told, []
        return [event for event in events if event.source in sources]

    events_come_later = False

    def install(self, crds: Crds, manifests: Sequence[dict[str, Any]] | None = None) -> None:
        """Replace the CRDs by those of a release, nothing being stored; files are for real API servers."""
        if manifests is not None:
            raise ValueError(
                "the http cluster has the rule tables of releases only; files of CRDs need a real API server"
            )
        self._crds = crds
        with self.server.lock:
            self._memory.install(crds)

    def update_crds(self, crds: Crds) -> None:
        """Replace the CRDs, for writes that come from now on."""
        self._crds = crds
        with self.server.lock:
            self._memory.update_crds(crds)

    def upgrade(self, kubernetes: str) -> None:
        """Let the control plane run another version from now on."""
        with self.server.lock:
            self._memory.upgrade(kubernetes)

    def put_load(self, workload: Key, curve: Curve) -> None:
        """Give a workload's pods this load."""
        with self.server.lock:
            self._memory.put_load(workload, curve)

    def writer(self, identity: Identity) -> RestWriter:
        """A Writer in the name of this identity."""
        if identity not in self._writers:
            explain = explainer(lambda: self._crds)
            self._writers[identity] = RestWriter(
                self._connection(identity), identity, witness=self.view, explain=explain
            )
        return self._writers[identity]

    def evidence(self, node: str) -> Iterable[Evidence]:
        """The requests about a Node, in order."""
        with self.server.lock:
            entries = self._memory.journal.entries[self._forgotten :]
            return [entry for entry in entries if entry.key == Key("Node", "", node)]

    def _connection(self, identity: Identity | None) -> Connection:
        endpoint = self.server.endpoint() if identity is None else self.server.endpoint(identity)
        self._connections.append(Connection(endpoint))
        return self._connections[-1]
