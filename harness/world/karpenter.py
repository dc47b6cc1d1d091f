"""Karpenter's controllers on the engine, wired as its operator wires them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.engine.engine import Controller, Engine
from harness.engine.ports import Cloud, Sink, View, Writer
from harness.engine.rng import Rng
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.lifecycle.controller import NodeClaimLifecycle
from harness.karpenter.lifecycle.drain import Evictions
from harness.karpenter.lifecycle.garbage import GarbageCollection
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodeclasses import NodeClasses
from harness.karpenter.lifecycle.nodepools import NodePools, nodeclass_name
from harness.karpenter.lifecycle.pace import Pace
from harness.karpenter.lifecycle.termination import NodeTermination
from harness.karpenter.overlays.controller import GATE, NodeOverlays
from harness.karpenter.provider.arm import Arm
from harness.karpenter.provider.azure import AzureProvider
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.promises import Promises
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.provisioning.provisioner import Provisioner
from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.scheduling import CatalogIndexes, EqualPrices, SchedulingOptions
from harness.karpenter.scheduling.default_spread import default_constraints
from harness.karpenter.scheduling.memory import ClusterMemory
from harness.karpenter.staticpools.controllers import GATE as STATIC_CAPACITY
from harness.karpenter.staticpools.controllers import StaticDeprovisioning, StaticProvisioning
from harness.kube.api.objects import Object
from harness.kube.go.text import quote
from harness.world.disruption import Departures


class Karpenter:
    """The simulated loop. It knows its cluster only as View and Writer, and Azure only as Cloud."""

    def __init__(
        self,
        engine: Engine,
        view: View,
        writer: Writer,
        sink: Sink,
        cloud: Cloud,
        instance_types: InstanceTypeProvider,
        rng: Rng,
        *,
        region: str,
        kubernetes: str,
        indexes: CatalogIndexes,
        attempt_seconds: float,
        time_limit: float,
        pace: Pace,
        listeners: Sequence[Listener] = (),
    ) -> None:
        release, options = instance_types.release, instance_types.options
        arm = Arm(cloud, options)
        self.promises = Promises(engine, view, writer, sink, arm)
        self.provider = AzureProvider(view, sink, engine.clock, arm, instance_types, self.promises, rng, region)
        self.lifecycle = NodeClaimLifecycle(view, writer, sink, engine.clock, self.provider, release.core, pace)
        evictions = Evictions(engine, view, writer, sink)
        labels = rng.stream("labels")
        self.marks = Marks(engine.clock, options.batch_max_seconds)
        memory = ClusterMemory()
        self.provisioner = Provisioner(
            engine,
            view,
            writer,
            sink,
            instance_types,
            failures=self.provider.failures,
            options=SchedulingOptions(
                preference_policy=options.preference_policy,
                min_values_policy=options.min_values_policy,
                default_spread=default_constraints(options.scheduler_config),
                choose=labels.randrange,
                draw=rng.pick,
                equal_prices=EqualPrices(rng.pick),
                attempt_seconds=attempt_seconds,
                time_limit=time_limit,
            ),
            batcher=Batcher(engine.clock, options.batch_idle_seconds, options.batch_max_seconds),
            indexes=indexes,
            memory=memory,
            marks=self.marks,
            listeners=listeners,
        )
        self.departures = Departures(
            engine,
            view,
            writer,
            sink,
            arm,
            instance_types,
            rng,
            provisioner=self.provisioner,
            marks=self.marks,
            indexes=indexes,
            memory=memory,
        )
        self.overlays = _overlays(engine, view, writer, sink, instance_types, self.departures.reconsider)
        static = self._static(engine, view, writer, sink, instance_types)
        self.nodeclasses = NodeClasses(
            view,
            writer,
            engine.clock,
            cloud,
            sink,
            release=release,
            options=options,
            region=region,
            kubernetes=kubernetes,
        )
        self.controllers: tuple[Controller, ...] = (
            self.nodeclasses,
            NodePools(view, writer, engine.clock, release, self.lifecycle.health),
            *self.overlays,
            self.provisioner,
            self.lifecycle,
            self.promises,
            evictions,
            NodeTermination(
                engine,
                view,
                writer,
                sink,
                engine.clock,
                self.provider,
                evictions,
                protection_may_end=rules_of(release.core).protection_may_end,
            ),
            GarbageCollection(view, writer, sink, engine.clock, self.provider, lambda: engine.revision),
            *self.departures.controllers,
            *static,
        )
        """All of them, in the order in which changes reach them."""
        engine.add(*self.controllers)

    def _static(
        self, engine: Engine, view: View, writer: Writer, sink: Sink, instance_types: InstanceTypeProvider
    ) -> tuple[Controller, ...]:
        """The controllers of static NodePools where the release has them and the gate is open."""
        rules = self.departures.rules
        if rules is None or not rules.static_nodepools or not instance_types.options.gate(STATIC_CAPACITY):
            return ()
        look, create = self.departures.observer.look, self.provisioner.create
        failures, report = self.provider.failures, engine.report_runaway
        return (
            StaticProvisioning(view, sink, engine.clock, look, create, failures, report),
            StaticDeprovisioning(view, writer, sink, look),
        )


def _overlays(
    engine: Engine,
    view: View,
    writer: Writer,
    sink: Sink,
    instance_types: InstanceTypeProvider,
    evaluated: Callable[[], None],
) -> tuple[Controller, ...]:
    """The controller of NodeOverlays where its gate is open; instance types are then what it makes of them."""
    release = instance_types.release
    if not instance_types.options.gate(GATE) or GATE not in release.core.gates:
        return ()

    def types(nodepool: Object) -> Sequence[InstanceType]:
        name = nodeclass_name(nodepool)
        nodeclass = view.get("AKSNodeClass", name) if name else None
        if nodeclass is None:
            raise LookupError(f"resolving node class, AKSNodeClass.karpenter.azure.com {quote(name or '')} not found")
        return instance_types.cached(nodeclass).types

    instance_types.overlays = made = NodeOverlays(view, writer, sink, engine.clock, release, types, evaluated)
    return (made,)
