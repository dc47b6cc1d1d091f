"""Karpenter's controllers on the engine, wired as its operator wires them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from harness.engine.access import Access
from harness.engine.engine import Controller
from harness.engine.ports import Cloud
from harness.engine.rng import Rng
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.deletion_costs import GATE as DELETION_COSTS
from harness.karpenter.disruption.situation import View as DisruptionView
from harness.karpenter.disruption.tally import Tally
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodeclaims.controller import NodeClaimLifecycle
from harness.karpenter.lifecycle.nodeclaims.expiration import Expiration
from harness.karpenter.lifecycle.nodeclaims.garbage import GarbageCollection
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.lifecycle.nodeclasses.status import NodeClasses
from harness.karpenter.lifecycle.nodepools.status import NodePools, nodeclass_name
from harness.karpenter.lifecycle.nodes.drain import Evictions
from harness.karpenter.lifecycle.nodes.termination import NodeTermination
from harness.karpenter.overlays.applied import AppliedOverlays
from harness.karpenter.overlays.controller import NodeOverlays
from harness.karpenter.provider.arm import Arm, Polling
from harness.karpenter.provider.azure import AzureProvider
from harness.karpenter.provider.in_place import InPlaceUpdates
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.machine_updates import MachineUpdates
from harness.karpenter.provider.promises import Promises
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.provisioning.podtimes import TakenUp
from harness.karpenter.provisioning.provisioner import Provisioner
from harness.karpenter.scheduling import CatalogIndexes, ClusterSnapshot, EqualPrices, SchedulingOptions
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.default_spread import default_constraints
from harness.karpenter.staticpools.controllers import GATE as STATIC_CAPACITY
from harness.karpenter.staticpools.controllers import StaticDeprovisioning, StaticProvisioning
from harness.kube.api.objects import Object
from harness.kube.go.text import quote
from harness.world.disruption import Departures, Simulations
from lazyrecords import dataclass

__all__ = ["Karpenter", "Surroundings"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The inputs of the loop: region, Kubernetes version, times, NodeOverlays, listeners, and the indexes that it
    shares with other worlds."""

    region: str
    kubernetes: str
    indexes: CatalogIndexes
    attempt_seconds: float
    """Virtual seconds that each attempt to place a pod takes."""
    time_limit: float
    """Virtual seconds after which a simulation stops."""
    pace: Pace
    overlays: AppliedOverlays | None
    """The evaluated NodeOverlays, where the release and the gate have them."""
    listeners: Sequence[Listener] = ()
    """Listeners to every simulation."""


class Karpenter:
    """The simulated loop. It knows its cluster only as View and Writer, and Azure only as Cloud."""

    def __init__(
        self, access: Access, cloud: Cloud, instance_types: InstanceTypeProvider, rng: Rng, around: Surroundings
    ) -> None:
        release, options = instance_types.release, instance_types.options
        engine, view, writer, sink = access.engine, access.view, access.writer, access.sink
        self._engine, self._view, self._instance_types = engine, view, instance_types
        arm = Arm(cloud, options, Polling(release.poll_seconds, release.extension_poll_seconds))
        promises = Promises(engine, view, writer, sink, arm)
        self.provider = AzureProvider(view, sink, engine.clock, arm, instance_types, promises, rng, around.region)
        marks = Marks(engine.clock, options.batch_max_seconds)
        self._lifecycle = NodeClaimLifecycle(
            view, writer, sink, engine.clock, self.provider, release.core, around.pace, marks.expected_on
        )
        self.scheduling = self._scheduling(rng, around)
        """The placement of pods."""
        simulations = Simulations(self.scheduling, around.indexes, ClusterMemory())
        self._provisioner = Provisioner(
            access,
            instance_types,
            failures=self.provider.failures,
            options=self.scheduling,
            batcher=Batcher(engine.clock, options.batch_idle_seconds, options.batch_max_seconds),
            indexes=simulations.indexes,
            memory=simulations.memory,
            marks=marks,
            listeners=around.listeners,
        )
        self._departures = Departures(
            access,
            arm,
            instance_types,
            rng,
            simulations=simulations,
            create=self._provisioner.create,
            marks=marks,
            daemons=self._provisioner.daemons,
        )
        self._nodeclasses = NodeClasses(
            access, cloud, release=release, options=options, region=around.region, kubernetes=around.kubernetes
        )
        self._statics = self._static(access)
        self.evictions = Evictions(engine, view, writer, sink, release.core)
        """The evictions of pods."""
        self.controllers: tuple[Controller, ...] = (
            self._nodeclasses,
            NodePools(view, writer, engine.clock, release, self._lifecycle.health),
            *self._overlays(access, around.overlays),
            self._provisioner,
            self._lifecycle,
            promises,
            InPlaceUpdates(view, writer, sink, MachineUpdates(arm, sink, release)),
            *self._endings(access),
            *self._departures.controllers,
            *self._statics,
        )
        """All controllers, in the order in which changes reach them."""
        engine.add_controllers(*self.controllers)

    # Its state, for observers.

    @property
    def waiting(self) -> tuple[int, int]:
        """The number of pods that the last simulation could not schedule, and of those that Karpenter ignores."""
        return self._provisioner.waiting

    @property
    def taken_up(self) -> Mapping[str, TakenUp]:
        """Return the times when the provisioner first saw each pod and decided about it, by uid."""
        return self._provisioner.times.by_uid

    @property
    def disruption_tally(self) -> Tally:
        """Return the counts of the disruption controller at its last look."""
        return self._departures.controller.tally

    def failure_of(self, nodeclaim: str) -> str | None:
        """Return the last launch failure of a NodeClaim."""
        return self.provider.failures.get(nodeclaim)

    def snapshot(self) -> ClusterSnapshot:
        """Return the snapshot that a simulation would use now."""
        return self._provisioner.snapshot()

    def instance_types(self) -> dict[str, Sequence[InstanceType]]:
        """Return the instance types of each NodePool that it provisions for, as its NodeClass sees them."""
        return self._provisioner.instance_types()

    def disruption_view(self, snapshot: ClusterSnapshot | None = None) -> DisruptionView:
        """Return the disruption controller's view of the cluster now, or of any snapshot."""
        observer = self._departures.observer
        return observer.look() if snapshot is None else observer.of(snapshot)

    # Events from outside.

    @property
    def pace(self) -> Pace:
        """Return how long it takes over a NodeClaim."""
        return self._lifecycle.pace

    @pace.setter
    def pace(self, pace: Pace) -> None:
        self._lifecycle.pace = pace

    def begin(self) -> None:
        """Note that its process has started in a cluster that has NodePools: it lists their instance types before it
        reads the price list.

        Sources: core pkg/controllers/disruption/controller.go (its first turn), pkg/controllers/state/informer/pricing.go.
        """
        for name in dict.fromkeys(nodeclass_name(nodepool) for nodepool in self._view.list("NodePool")):
            nodeclass = self._view.get("AKSNodeClass", name) if name else None
            if nodeclass is not None:
                with suppress(NoInstanceTypes):
                    self._instance_types.cached(nodeclass)

    def azure_changed(self) -> None:
        """Note that prices, or Azure's offer, have changed; no object shows it."""
        self._departures.wake()

    def disturbed(self) -> None:
        """Note a change from outside, whose consequences are no runaway."""
        self._departures.disturbed()

    def upgraded(self, kubernetes: str) -> None:
        """Note that the API server runs another version; Karpenter notices it at its next read of the version."""
        self._nodeclasses.upgraded(kubernetes)

    def hold(self) -> None:
        """Disrupt no node from now on, and give or take no static NodePool one."""
        for static_controller in self._statics:
            static_controller.held = True
        self._departures.controller.held = True

    def release(self) -> None:
        """Let nodes leave again, also those that are older than this world."""
        for static_controller in self._statics:
            static_controller.held = False
        expiration = [controller for controller in self._departures.controllers if controller.name == Expiration.name]
        self._engine.introduce([*expiration, *self._statics], self._view.list)
        self._provisioner.daemons.look()
        self._departures.controller.held = False
        self._departures.controller.wake()

    # Wiring.

    def _scheduling(self, rng: Rng, around: Surroundings) -> SchedulingOptions:
        options = self._instance_types.options
        return SchedulingOptions(
            preference_policy=options.preference_policy,
            min_values_policy=options.min_values_policy,
            ignore_resource_claims=options.ignore_resource_claims,
            default_spread=default_constraints(options.scheduler_config),
            writes_deletion_costs=options.gate(DELETION_COSTS),
            choose=rng.stream("labels").randrange,
            draw=rng.pick,
            equal_prices=EqualPrices(rng.pick),
            attempt_seconds=around.attempt_seconds,
            time_limit=around.time_limit,
        )

    def _endings(self, access: Access) -> tuple[Controller, ...]:
        """Return the controllers that take nodes away that are to go."""
        engine, view, writer, sink = access.engine, access.view, access.writer, access.sink
        core = self._instance_types.release.core
        return (
            self.evictions,
            NodeTermination(engine, view, writer, sink, engine.clock, self.provider, self.evictions, core),
            GarbageCollection(view, writer, sink, engine.clock, self.provider, lambda: engine.revision),
        )

    def _static(self, access: Access) -> tuple[StaticProvisioning | StaticDeprovisioning, ...]:
        """Return the controllers of static NodePools where the release has them and the gate is open."""
        rules = self._departures.rules
        if not rules.static_nodepools or not self._instance_types.options.gate(STATIC_CAPACITY):
            return ()
        look, create = self._departures.observer.look, self._provisioner.create
        failures, report = self.provider.failures, access.engine.report_runaway
        return (
            StaticProvisioning(access.view, access.sink, access.clock, look, create, failures, report),
            StaticDeprovisioning(access.view, access.writer, access.sink, look),
        )

    def _overlays(self, access: Access, applied: AppliedOverlays | None) -> tuple[Controller, ...]:
        """Return the controller of NodeOverlays, where they count."""
        if applied is None:
            return ()

        def types(nodepool: Object) -> Sequence[InstanceType]:
            name = nodeclass_name(nodepool)
            nodeclass = access.view.get("AKSNodeClass", name) if name else None
            if nodeclass is None:
                wanted = quote(name or "")
                raise LookupError(f"resolving node class, AKSNodeClass.karpenter.azure.com {wanted} not found")
            return self._instance_types.cached(nodeclass).types

        release, evaluated = self._instance_types.release, self._departures.reconsider
        return (NodeOverlays(access, release, types, applied, evaluated),)
