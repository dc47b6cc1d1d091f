"""The memory cluster put together: store, admission, scheduler and workload controllers on one engine."""

from __future__ import annotations

from collections.abc import Iterable

from harness.clusters.cluster import MEMORY
from harness.clusters.memory.admission import (
    custom_resources,
    defaults,
    overheads,
    service_accounts,
    shapes,
    validation,
)
from harness.clusters.memory.controllers.autoscalers import Autoscalers
from harness.clusters.memory.controllers.registry import controllers, tools_of
from harness.clusters.memory.journal import Journal
from harness.clusters.memory.kubelets import authorize, node_restriction
from harness.clusters.memory.limits import ResourceQuotas, limit_checks, limit_defaults, quota_checks
from harness.clusters.memory.loads import Loads
from harness.clusters.memory.namespaces import NamespaceController, lifecycle, system_namespaces
from harness.clusters.memory.request import Admission
from harness.clusters.memory.scheduling import KubeScheduler
from harness.clusters.memory.store import Store
from harness.clusters.memory.taint_eviction import TaintEviction
from harness.clusters.memory.volume_protection import VolumeProtection, volume_protection
from harness.clusters.memory.volumes import VolumeBinder
from harness.clusters.memory.writer import MemoryWriter
from harness.clusters.provenance import Evidence
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import CONTROLLER_MANAGER, SCHEDULER, Identity, Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Key, Object
from harness.kube.api.versions import Version
from harness.kube.workloads.loads import Curve


class MemoryCluster:
    """A cluster without servers: `view` reads it, `writer(identity)` writes it, `journal` knows the writers."""

    def __init__(self, engine: Engine, rng: Rng, ids: Ids, sink: Sink, *, crds: Crds, kubernetes: str) -> None:
        version = Version.parse(kubernetes)
        self._crds, self._kubernetes, self._updated = crds, kubernetes, False
        self.store = Store(engine.clock, ids)
        self.store.admission.update(self._judges())
        self.store.authorize = authorize
        for namespace in system_namespaces(engine.clock.timestamp()):
            self.store.adopt(namespace)
        self.store.subscribe(engine.notify)
        self._scheduler = KubeScheduler(self.store, self.writer(SCHEDULER), sink, engine.clock, rng, version)
        tools = tools_of(self.store, self.writer(CONTROLLER_MANAGER), sink, engine.clock, self._version)
        self._engine, self._loads = engine, Loads(engine.clock)
        self._autoscalers = Autoscalers(tools, self._loads)
        engine.add_controllers(
            self._scheduler,
            *controllers(tools, self.store.exists, self._autoscalers, rng),
            TaintEviction(self.store, self.writer(CONTROLLER_MANAGER), engine.clock),
            VolumeBinder(self.store, self.writer(CONTROLLER_MANAGER)),
            VolumeProtection(self.store, self.writer(CONTROLLER_MANAGER)),
            ResourceQuotas(self.store, self.writer(CONTROLLER_MANAGER)),
            NamespaceController(self.store, CONTROLLER_MANAGER),
        )

    def provide(self, objects: Iterable[Object]) -> None:
        """Put in objects that existed before the first write."""
        for obj in objects:
            self.store.adopt(obj)

    boot: None = None
    halt: None = None
    name = MEMORY

    def _judges(self) -> dict[str, Admission]:
        """Return the judges of every write by name, in the order of an API server: mutating plugins before validating
        ones.

        Each is made anew of the CRDs and the version in force, so that a cluster that was upgraded has those of one
        that began there.
        """
        version = Version.parse(self._kubernetes)
        return {
            "shapes": shapes,
            "lifecycle": lifecycle(lambda: self.store),
            "limit defaults": limit_defaults(lambda: self.store),
            "volume protection": volume_protection(),
            "service accounts": service_accounts(lambda: self.store),
            "defaults": defaults(lambda: self.store, version),
            "node restriction": node_restriction(lambda: self.store),
            "custom resources": custom_resources(self._crds, self._kubernetes, updated=self._updated),
            "validation": validation(version),
            "overheads": overheads(lambda: self.store),
            "limits": limit_checks(lambda: self.store),
            "quotas": quota_checks(lambda: self.store),
        }

    def _version(self) -> Version:
        return Version.parse(self._kubernetes)

    def owns(self, obj: Object) -> bool:
        """Return True: all objects are this world's."""
        return True

    def install(self, crds: Crds) -> None:
        """Install CRDs in place of the others, while nothing is stored that was judged by those."""
        self._crds, self._updated = crds, False
        self.store.admission.update(self._judges())

    def update_crds(self, crds: Crds) -> None:
        """Replace the CRDs, for later writes."""
        self._crds, self._updated = crds, True
        self.store.admission.update(self._judges())

    def upgrade(self, kubernetes: str) -> None:
        """Let the control plane run another version from now on, also where it judges custom resources.

        It may refuse stored objects, as new CRDs may.
        """
        self._kubernetes, self._updated = kubernetes, True
        self.store.admission.update(self._judges())
        self._scheduler.version = Version.parse(kubernetes)

    def put_load(self, workload: Key, curve: Curve) -> None:
        """Give a workload's pods this load from now on; what scales it looks at it at its next sync."""
        self._loads.put(workload, curve)
        for key in self._autoscalers.keys_of(workload):
            self._engine.enqueue(self._autoscalers, key)

    def evidence(self, node: str) -> Iterable[Evidence]:
        """The requests about a Node, in order."""
        return self.journal.entries_about(Key("Node", "", node))

    @property
    def view(self) -> Store:
        """The View port."""
        return self.store

    @property
    def journal(self) -> Journal:
        """Return the journal of every write, with its user."""
        return self.store.journal

    def writer(self, identity: Identity) -> MemoryWriter:
        """A Writer in the name of this identity."""
        return MemoryWriter(self.store, identity)
