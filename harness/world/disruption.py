"""The controllers that remove nodes, wired as Karpenter's operator wires them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.engine.access import Access
from harness.engine.engine import Controller
from harness.engine.rng import Rng
from harness.karpenter.disruption.controller import DisruptionController
from harness.karpenter.disruption.deletion_costs import GATE as DELETION_COSTS
from harness.karpenter.disruption.deletion_costs import DeletionCosts, DeletionCostWrites
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.execution.executions import Executions
from harness.karpenter.disruption.nodeclaims import NodeClaimConditions
from harness.karpenter.disruption.observer import Observer
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodeclaims.consistency import Consistency
from harness.karpenter.lifecycle.nodeclaims.expiration import Expiration
from harness.karpenter.lifecycle.nodeclaims.pod_events import PodEvents
from harness.karpenter.lifecycle.nodes.repair import NodeRepair
from harness.karpenter.provider.arm import Arm
from harness.karpenter.provider.drift import ProviderDrift
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.instances import ArmInstances
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import CatalogIndexes, PlannedNodeClaim, SchedulingOptions
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.daemons import DaemonPods
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["Departures", "Simulations"]


@dataclass(frozen=True, slots=True)
class Simulations:
    """The scheduling options of one Karpenter, and its memory from one simulation to the next."""

    options: SchedulingOptions
    indexes: CatalogIndexes
    memory: ClusterMemory


class Departures:
    """The controllers that remove nodes. A release whose disruption was not measured has expiration and repair only."""

    def __init__(
        self,
        access: Access,
        arm: Arm,
        instance_types: InstanceTypeProvider,
        rng: Rng,
        *,
        simulations: Simulations,
        create: Callable[[PlannedNodeClaim], Object],
        marks: Marks,
        daemons: DaemonPods,
    ) -> None:
        """`create` creates the NodeClaims of replacements; `simulations` are those of the provisioner."""
        engine, view, writer, sink = access.engine, access.view, access.writer, access.sink
        clock, release = engine.clock, instance_types.release
        self._marks = marks
        draws = rng.stream("disruption")
        options = replace(
            simulations.options,
            choose=draws.randrange,
            draw=lambda name, values: rng.pick(f"disruption/{name}", values),
        )
        self.observer = Observer(
            view,
            clock,
            instance_types,
            marks,
            options,
            simulations.indexes,
            simulations.memory,
            daemons,
        )
        self.rules = disruption_rules_of(release.core)
        controllers: list[Controller] = [
            Expiration(view, writer, sink, clock),
            Consistency(view, writer, sink, clock, release.core),
        ]
        if release.repair_policies and instance_types.options.gate("NodeRepair"):
            controllers.append(NodeRepair(view, writer, sink, clock, release))
        if self.rules.manages_deletion_costs and instance_types.options.gate(DELETION_COSTS):
            writes = DeletionCostWrites(engine, view, writer)
            controllers += [DeletionCosts(self.observer, marks, writes), writes]
        instances = ArmInstances(arm)
        drift = ProviderDrift(view, sink, instances, instance_types.options, release)
        actions = ClusterActions(view, writer, sink, clock, marks, create)
        executions = Executions(engine, sink, actions, self.rules)
        self.controller = DisruptionController(
            engine, self.observer, sink, actions, executions, marks, instance_types, self.rules
        )
        controllers += [
            PodEvents(view, writer, clock),
            NodeClaimConditions(self.observer, writer, sink, clock, instance_types, drift, instances, self.rules),
            self.controller,
            executions,
        ]
        self.controllers: Sequence[Controller] = tuple(controllers)
        """All controllers, in the order in which changes reach them."""

    def reconsider(self) -> None:
        """Let consolidation look again: NodeOverlays may have changed prices or capacity (core
        pkg/controllers/nodeoverlay/controller.go)."""
        self._marks.unsettle()
        self.wake()

    def disturbed(self) -> None:
        """Note a change of the user, whose consequences are no runaway."""
        self.controller.churn.forget()

    def wake(self) -> None:
        """Note a change that is in no object: of prices, or of Azure's offer."""
        self.controller.wake()
