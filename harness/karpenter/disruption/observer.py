"""The cluster as the disruption controller sees it now, from the objects and from what Karpenter keeps in memory."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.clock import Clock
from harness.engine.ports import View as ClusterView
from harness.karpenter.cloudprovider import InstanceType, UnevaluatedNodePool
from harness.karpenter.disruption.situation import View
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodepools.status import nodeclass_name
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.scheduling import CatalogIndexes, ClusterSnapshot, SchedulingOptions
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.daemons import DaemonPods
from harness.karpenter.scheduling.snapshot import observed
from harness.kube.api.objects import Object, is_terminating, name_of

__all__ = ["Observer"]


class Observer:
    """Makes the views of one Karpenter's disruption controller."""

    def __init__(
        self,
        view: ClusterView,
        clock: Clock,
        instance_types: InstanceTypeProvider,
        marks: Marks,
        options: SchedulingOptions,
        indexes: CatalogIndexes,
        memory: ClusterMemory,
        daemons: DaemonPods,
    ) -> None:
        self._daemons = daemons
        self.cluster = view
        self._clock = clock
        self._instance_types = instance_types
        self._marks = marks
        self._options = options
        self._indexes, self._memory = indexes, memory

    def look(self, queued: frozenset[str] = frozenset()) -> View:
        """The cluster at this moment; ``queued`` names the Nodes of commands under way."""
        snapshot = observed(self.cluster, self._clock.now, self._marks.deleting, self._daemons.known())
        made = self.of(snapshot, queued)
        machines = made.simulations.state.fleet.by_provider
        made.nominated = {
            machines[machine].name: until for machine, until in self._marks.nominated.items() if machine in machines
        }
        return made

    def of(self, snapshot: ClusterSnapshot, queued: frozenset[str] = frozenset()) -> View:
        """The view of any snapshot with this Karpenter's instance types, and nothing of what it keeps in memory."""
        types = {name_of(pool): types_of_pool for pool in snapshot.nodepools if (types_of_pool := self.types(pool))}
        return View(
            snapshot,
            types,
            release=self._instance_types.release,
            options=self._options,
            indexes=self._indexes,
            memory=self._memory,
            queued=queued,
        )

    def types(self, nodepool: Object) -> Sequence[InstanceType]:
        """The instance types of a NodePool for its AKSNodeClass; empty where that does not exist, is being deleted or allows none."""
        name = nodeclass_name(nodepool)
        nodeclass = self.cluster.get("AKSNodeClass", name) if name else None
        if nodeclass is None or is_terminating(nodeclass):
            return ()
        try:
            return self._instance_types.for_nodepool(name_of(nodepool), nodeclass)
        except (NoInstanceTypes, UnevaluatedNodePool):
            return ()
