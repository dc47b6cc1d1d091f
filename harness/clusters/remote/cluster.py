"""A remote cluster on a world's engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from harness.clusters.client.connection import ClusterLost
from harness.clusters.client.events import SCHEDULER_NAME, ObservedEvent
from harness.clusters.client.mirror import Mirror
from harness.clusters.cluster import Boot, RealMachines
from harness.clusters.memory.journal import Journal
from harness.clusters.provenance import Evidence
from harness.clusters.remote.evictions import driven_out_by_mistake, make_again
from harness.clusters.remote.fixed import Fixed
from harness.clusters.remote.outstanding import PodEvent, missing_events, outstanding_work
from harness.clusters.remote.writer import AttachedWriter
from harness.clusters.waiting import Patience, TimedOut, crowding
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Change, ChangeType, Identity, Sink, Writer
from harness.karpenter.validation.admission import Crds
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Object, key_of, labels_of, name_of, namespace_of, spec_of, uid_of
from harness.kube.api.status import ignoring
from harness.kube.api.versions import Version

__all__ = ["Attachable", "Detached", "RemoteCluster"]

_QUIET = 0.04
"""Seconds without news after which a cluster that owes nothing is at rest, if it happens twice in a row."""

_EVENTS_LATE = 2.0
"""Seconds that an Event may come after the decision. kube-scheduler counts a repeated one up instead of sending it anew."""

_LOOK_EVERY = 5.0
"""Seconds after which the parts of a cluster with outstanding work are checked: a dead one will never finish it."""

_CLEARED: Sequence[str] = (
    "NodePool",
    "NodeClaim",
    "NodeOverlay",
    "AKSNodeClass",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "PodDisruptionBudget",
    "Pod",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "Node",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "ConfigMap",
    "Namespace",
)
"""Kinds that a world leaves behind, owners first."""

_KEPT_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "local-path-storage"})
_KEPT_CLASSES = frozenset({"standard"})
_KEPT_CONFIG_MAPS = frozenset(
    {
        "cluster-info",
        "coredns",
        "extension-apiserver-authentication",
        "kube-apiserver-legacy-service-account-token-tracking",
        "kube-proxy",
        "kube-root-ca.crt",
        "kubeadm-config",
        "kubelet-config",
        "local-path-config",
    }
)
"""ConfigMaps of the cluster's own parts. Any other is a world's: Karpenter reads AKS's maintenance windows from one."""


class Attachable(Protocol):
    """A cluster that can be attached: an HTTP cluster, a real one."""

    name: str
    view: Mirror

    @property
    def real_machines(self) -> RealMachines | None:
        """Return the maker of machines with real kubelets; None where kubelets are simulated."""

    @property
    def machines(self) -> Collection[str]:
        """The Nodes whose kubelets are real and run now."""
        ...

    def deaths(self) -> str:
        """Return the dead parts, with their last words; empty while all live."""
        ...

    def writer(self, identity: Identity) -> Writer: ...

    def evidence(self, node: str) -> Iterable[Evidence]: ...

    def reset(self) -> None: ...

    def forget(self) -> None: ...

    def observed_events(self, *sources: str) -> Sequence[ObservedEvent]: ...

    @property
    def events_come_later(self) -> bool: ...

    def install(self, crds: Crds, manifests: Sequence[dict[str, Any]] | None = None) -> None: ...

    def update_crds(self, crds: Crds) -> None: ...


class Detached(RuntimeError):
    """A world was used after its cluster had been given to another one."""


class RemoteCluster(Fixed):
    """The cluster of one world. Raises TimedOut, naming what still moves, when it does not come to rest in `seconds`."""

    in_virtual_time = True
    """Whether the times of its objects are the world's, or those that the API server gave."""
    tellers: Sequence[str] = (SCHEDULER_NAME,)
    """The senders whose Events are handed on."""

    def __init__(
        self,
        remote: Attachable,
        engine: Engine,
        ids: Ids,
        sink: Sink,
        *,
        crds: Crds,
        kubernetes: str,
        seconds: float,
        machines: bool = True,
    ) -> None:
        self.remote = remote
        self.journal = Journal()
        self._engine = engine
        self._ids = ids
        self._sink = sink
        self._seconds = seconds
        self._machines = machines
        self._version = Version.parse(kubernetes)
        self._writers: dict[Identity, AttachedWriter] = {}
        self._rested = -1
        self._stirred = True
        self._detached = False
        self._said: set[PodEvent] = set()
        self._mistaken: dict[str, Object] = {}
        self._progress = (-1, -1)
        self._patience = Patience(seconds)
        self._owed: Sequence[str] = ()
        self._owing = 0.0
        self.view = remote.view
        self.view.unsubscribe()
        self.view.clock = None
        remote.reset()
        self.clear()
        remote.install(crds)
        remote.forget()
        self.view.clock = engine.clock if self.in_virtual_time else None
        self.view.restart_log()
        self.view.subscribe(self._heard)
        engine.outside = self.outside

    def detach(self) -> None:
        """Give the cluster up: another world has it from now on."""
        self._detached = True

    def attached(self) -> None:
        """Raise Detached where another world has the cluster."""
        if self._detached:
            raise Detached(f"the {self.remote.name} cluster of this world was given to another world")

    def writer(self, identity: Identity) -> AttachedWriter:
        """A Writer in the name of this identity."""
        if identity not in self._writers:
            self._writers[identity] = AttachedWriter(
                self.remote.writer(identity), self.view, self.journal, self._engine.clock, self._ids, self.attached
            )
        return self._writers[identity]

    def owns(self, obj: Object) -> bool:
        """Return whether this world looks after an object: all of them, since it has the cluster to itself."""
        return True

    def provide(self, objects: Iterable[Object]) -> None:
        """Create the objects, where the cluster has none of that name; it gives them its own uids and times."""
        for obj in objects:
            meta = {key: value for key, value in obj["metadata"].items() if key in ("name", "labels", "annotations")}
            if self.view.get(obj["kind"], meta["name"]) is None:
                with ignoring(409):
                    self.remote.writer(ADMIN).create({**obj, "metadata": meta})

    def update_crds(self, crds: Crds) -> None:
        """Replace the CRDs, for later writes."""
        self.remote.update_crds(crds)

    @property
    def name(self) -> str:
        """Return its name on the command line."""
        return self.remote.name

    @property
    def boot(self) -> Boot | None:
        """Bring up machines with real kubelets, where the cluster has them."""
        real = self.remote.real_machines if self._machines else None
        return real.boot if real is not None else None

    @property
    def halt(self) -> Callable[[str], None] | None:
        """Take a machine with a real kubelet away."""
        real = self.remote.real_machines if self._machines else None
        return real.halt if real is not None else None

    def evidence(self, node: str) -> Iterable[Evidence]:
        """Return the requests about a Node in order."""
        self.attached()
        return self.remote.evidence(node)

    def _heard(self, change: Change) -> None:
        """Handle a change; one of a kind that only we look after gives the cluster's own controllers nothing to do."""
        if change.type is ChangeType.DELETED or not KINDS[change.object["kind"]].custom:
            self._stirred = True
        if change.type is ChangeType.MODIFIED and change.object["kind"] == "Pod":
            pod = change.object
            node = self.view.get("Node", spec_of(pod).get("nodeName") or "")
            if driven_out_by_mistake(pod, node) and self.owns(pod):
                self._mistaken.setdefault(uid_of(pod), pod)
        self._engine.notify(change)

    def _mend(self) -> None:
        """Make pods again that were driven out by mistake, before time goes on without them."""
        mistaken, self._mistaken = self._mistaken, {}
        for pod in mistaken.values():
            make_again(pod, self.remote.writer(ADMIN))

    def _listen(self) -> None:
        """Hand on the Events of the cluster."""
        for event in self.remote.observed_events(*self.tellers):
            self._said.add((namespace_of(event.object), name_of(event.object), event.message))
            self._sink.event(
                event.object, event.type, event.reason, event.message, source=event.source, dedupe_seconds=0
            )

    def outside(self) -> bool:
        """Let the cluster's own controllers act; return whether anything came of it. Called when the engine has nothing due."""
        self.attached()
        if self.view.pump() or self._mistaken:
            self._mend()
            self._listen()
            return self._moved()
        if self.view.seen == self._rested:
            return False
        if not self._stirred:
            self._rested = self.view.seen
            return False
        patience, events = Patience(self._seconds), Patience(_EVENTS_LATE)
        look = Patience(_LOOK_EVERY)
        quiet = 0
        while quiet < 2:
            if self.view.pump(_QUIET):
                self._mend()
                self._listen()
                return self._moved()
            if look.passed:
                look = Patience(_LOOK_EVERY)
                died = self.remote.deaths()
                if died:
                    raise ClusterLost(f"a part of the {self.remote.name} cluster died\n{died}")
            self._listen()
            sent = self._said if self.remote.events_come_later else None
            if sent is not None and events.passed:
                sent.update(list(missing_events(self.view, sent)))  # counted up, not sent anew: nothing more comes
            machines = self.remote.machines
            owed = list(
                outstanding_work(self.view, self._version, machines=machines, events=sent, beside=self.view.hidden_pods)
            )
            quiet = 0 if owed else quiet + 1
            if owed and (patience.passed or self._owes_too_long(owed)):
                raise TimedOut(
                    f"the {self.remote.name} cluster did not come to rest in {patience.waited}: {'; '.join(owed[:5])}"
                )
        self._rested, self._stirred = self.view.seen, False
        return False

    def _owes_too_long(self, owed: Sequence[str]) -> bool:
        """Return whether the same work is outstanding, look after look, though other things change (a pod whose image cannot be pulled)."""
        self._owing = self._owing + _QUIET / crowding() if owed == self._owed else 0.0
        self._owed = owed
        return self._owing > self._seconds

    def _moved(self) -> bool:
        """Return True; raise TimedOut when the cluster keeps changing and nothing of it concerns us."""
        progress = (self._engine.steps, self._engine.clock.now)
        if progress != self._progress:
            self._progress, self._patience = progress, Patience(self._seconds)
        elif self._patience.passed:
            last = ", ".join(f"{change.type} {key_of(change.object)}" for change in self.view.last(5))
            raise TimedOut(
                f"the {self.remote.name} cluster has been changing by itself for {self._patience.waited}: {last}"
            )
        return True

    def clear(self) -> None:
        """Remove all objects of earlier worlds."""
        admin = self.remote.writer(ADMIN)
        patience = Patience(self._seconds)
        while True:
            self.view.pump(_QUIET)
            left = [obj for kind in _CLEARED for obj in self.view.list(kind) if _is_cleared(obj)]
            if not left:
                return
            if patience.passed:
                names = ", ".join(f"{obj['kind']}/{name_of(obj)}" for obj in left[:5])
                raise TimedOut(f"the {self.remote.name} cluster could not be cleared in {patience.waited} of {names}")
            for obj in left:
                _remove(admin, obj)


def _is_cleared(obj: Object) -> bool:
    kind, name = obj["kind"], name_of(obj)
    if kind == "Node":
        return "node-role.kubernetes.io/control-plane" not in labels_of(obj)
    if kind == "Namespace":
        return name not in _KEPT_NAMESPACES and name != "default"
    if kind == "PriorityClass":
        return not name.startswith("system-")
    if kind == "ConfigMap":
        return name not in _KEPT_CONFIG_MAPS
    return not (kind == "StorageClass" and name in _KEPT_CLASSES)


def _remove(admin: Writer, obj: Object) -> None:
    kind, name, namespace = obj["kind"], name_of(obj), namespace_of(obj)
    nothing: Mapping[str, Any] = {"metadata": {"finalizers": None}}
    with ignoring(404, 409):
        if obj["metadata"].get("finalizers"):
            admin.patch(kind, name, nothing, namespace=namespace)
        admin.delete(kind, name, namespace=namespace, grace_period_seconds=0)
