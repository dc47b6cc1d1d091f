"""The data that all simulations over one snapshot share: computed once, and changed by none of them."""

from collections import Counter
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.releases.scheduling import ClaimsIn, rules_of
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodeclaims.model import Model, alike
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.nodeclaims.templates import Template, limits_left
from harness.karpenter.scheduling.nodes.capacity_index import NodeCapacityIndex
from harness.karpenter.scheduling.nodes.cluster_state import ClusterState
from harness.karpenter.scheduling.nodes.existing import ExistingNode
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.pods.queue import QueuedPod, queued_pod
from harness.karpenter.scheduling.pods.shapes import ShapeCatalog
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.scheduling.remembered import Result
from harness.karpenter.scheduling.snapshot import SchedulingOptions
from harness.karpenter.scheduling.topology.cluster import ClusterTopology
from harness.karpenter.scheduling.topology.domains import Domains
from harness.karpenter.scheduling.topology.inverse import InverseGroups, repelling_pods
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, name_of, same_objects, spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.scheduling.taints import PREFER_NO_SCHEDULE

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease

_Made = tuple[tuple[object, ...], ExistingNode, Model]
"""The inputs of a node as pods see it, that node, and the model for which it was last asked."""

_EXISTING = Result[_Made]()
_ROOM = Result[tuple[list[object], NodeCapacityIndex]]()
"""The room on a fleet, and the objects that it rests on."""


def _stand(node: StateNode) -> tuple[bool, str, bool, str] | None:
    """Return the sort key of a node that pods try: initialized nodes first, then by name. A node that goes away has none."""
    if node.deleting:
        return None
    return not node.initialized, node.name, node.nodeclaim is None, node.provider_id


class SchedulingContext:
    """NodePools as templates, nodes with their room, the shapes of pods, and where pods run.

    Sets of ``existing`` nodes are masks by position.
    """

    def __init__(
        self,
        state: ClusterState,
        volumes: VolumeLookup,
        nodepools: Sequence[Object],
        indexes: Mapping[str, CatalogIndex],
        release: "ProviderRelease",
        options: SchedulingOptions,
        memory: ClusterMemory,
    ) -> None:
        self.state, self.nodepools, self.indexes, self.options = state, nodepools, indexes, options
        self.rules = rules_of(release.core)
        self.algebra = memory.algebra(release.vocabulary)
        self.best_effort = options.relaxes_min_values(self.rules)
        self._memory = memory
        self._claims_in = self.rules.resource_claims if options.ignore_resource_claims else ClaimsIn.NOWHERE
        kind = (ShapeCatalog, options.preference_policy, self.tolerates_preferences, self._claims_in)
        demands, comparing = partial(volumes.demands, self.algebra, self.rules), self.rules.compares_tolerations
        self.shapes: ShapeCatalog = memory.models.get(kind) or memory.models.setdefault(
            kind, ShapeCatalog(self.algebra, *kind[1:3], demands, kind[3], comparing=comparing)
        )
        self.queued: Callable[[Object], QueuedPod] = memory.of_pods(kind, partial(queued_pod, self.shapes.of))
        """A pod with its shape, of which each simulation needs a fresh one. Raises QuantityError and ValueError."""

    @cached_property
    def tolerates_preferences(self) -> bool:
        """Return whether pods, as the last relaxation, tolerate taints with effect PreferNoSchedule."""
        return any(
            taint.get("effect") == PREFER_NO_SCHEDULE
            for pool in self.nodepools
            for taint in spec_of(spec_of(pool).get("template") or {}).get("taints") or ()
        )

    @cached_property
    def model(self) -> Model:
        """Return the shape of new nodes."""
        key, snapshot = (Model, self.best_effort, self._claims_in), self.state.snapshot
        model: Model | None = self._memory.models.get(key)
        made = Model(snapshot, self.nodepools, self.indexes, self.algebra, self.rules, self._claims_in)
        if model is None or not model.equals(made):
            made.build(self.best_effort)
            model = self._memory.models[key] = made
        return model

    @property
    def templates(self) -> tuple[Template, ...]:
        """The NodePools that have an instance type left, heaviest first."""
        return self.model.templates

    @property
    def judged_nodepools(self) -> list[tuple[Template, dict[str, int]]]:
        """All NodePools, with the keys whose ``minValues`` they miss, which leaves them no instance type."""
        return self.model.judged

    @cached_property
    def events(self) -> tuple[SchedulingEvent, ...]:
        """About NodePools without an instance type."""
        events = []
        for template, unmet in self.judged_nodepools:
            if not template.mask:
                text = "NodePool requirements filtered out all compatible available instance types"
                text += " due to minValues incompatibility" if unmet and self.rules.min_values_relaxable else ""
                events.append(SchedulingEvent("NodePool", template.name, "Warning", "NoCompatibleInstanceTypes", text))
        return tuple(events)

    @cached_property
    def room(self) -> NodeCapacityIndex:
        """The active nodes: initialized ones first, then by name. The same as before while neither they nor what is on them changes."""
        model = self.model  # a DaemonSet's search for a term that fits begins with the templates
        rests_on = [model, self.shapes, *self.indexes.values()]
        fleet, models = self.state.fleet, self._memory.models
        entry = _ROOM.last(fleet)
        if entry is None or not same_objects(entry[0], rests_on):
            before: tuple[list[object], NodeCapacityIndex] | None = models.get(NodeCapacityIndex)
            room = before[1] if before is not None and same_objects(before[0], rests_on) else NodeCapacityIndex(())
            make = partial(self._node, model, tuple(map(id, model.daemons)))
            entry = _ROOM.keep(fleet, (rests_on, room.after(fleet.in_order(_stand), _stand, make)))
            models[NodeCapacityIndex] = entry
        return entry[1]

    @property
    def existing(self) -> tuple[ExistingNode, ...]:
        """The active nodes in the order in which pods try them."""
        return self.room.existing

    @property
    def refused(self) -> dict[int, int]:
        """See :class:`NodeCapacityIndex`."""
        return self.room.refused

    def _node(self, model: Model, daemons: tuple[int, ...], node: StateNode) -> ExistingNode:
        """The node as pods see it, the one of the model before where neither its DaemonSets' pods nor its attach limits differ."""
        entry = _EXISTING.last(node, self._claims_in)
        if entry is None or entry[2] is not model:
            limits = self._attach_limits(node)
            rests_on = daemons, self.algebra, limits
            made = entry[1] if entry is not None and entry[0] == rests_on else None
            if made is None:
                made = ExistingNode(node, model.daemons, self.algebra, self.rules, limits)
            entry = _EXISTING.keep(node, (rests_on, made, model), self._claims_in)
        return entry[1]

    def _attach_limits(self, node: StateNode) -> Mapping[str, int]:
        """The attach limits by CSI driver of the node's instance type."""
        index = self.indexes.get(node.labels.get(NODEPOOL) or "")
        if index is None or not self.rules.attach_limits:
            return {}
        return index.attach_limits_of(node.labels.get(INSTANCE_TYPE) or "")

    def positions(self, nodes: Iterable[str]) -> int:
        """A mask of some active nodes; names of others are left out."""
        mask, positions = 0, self.position_of
        for name in nodes:
            if name in positions:
                mask |= 1 << positions[name]
        return mask

    def _states(self, nodes: Iterable[str]) -> list[StateNode]:
        """Return the state nodes of active nodes; names of others are left out."""
        positions, existing = self.position_of, self.existing
        return [existing[positions[name]].state for name in nodes if name in positions]

    def provider_ids(self, nodes: Iterable[str]) -> frozenset[str]:
        """The provider ids of active nodes; names of others are left out."""
        return frozenset(state.provider_id for state in self._states(nodes))

    @cached_property
    def _hostnames(self) -> Mapping[str, int]:
        """Count the active nodes of each hostname."""
        return Counter(node.state.hostname for node in self.existing)

    def hostnames(self, leaving: frozenset[str]) -> KeysView[str]:
        """The hostnames of the active nodes but some."""
        hostnames = dict(self._hostnames)
        for state in self._states(leaving):
            hostnames[state.hostname] -= 1
            if not hostnames[state.hostname]:
                del hostnames[state.hostname]
        return hostnames.keys()

    @cached_property
    def _limits_left(self) -> Mapping[str, Mapping[str, Quantity]]:
        """Return the rest of each NodePool's limits beside all active nodes."""
        return limits_left((node.state for node in self.existing), self.nodepools)

    @property
    def keeps_simulations(self) -> bool:
        """Return whether a simulation may be kept for another look: no tie is drawn, no reservation shared, no pod rewritten."""
        options = self.options
        spreads = self.rules.default_spread and bool(options.default_spread)
        return not (self._memory.exact or options.reservation_label is not None or spreads)

    def limits_left(self, leaving: frozenset[str]) -> dict[str, dict[str, Quantity]]:
        """Return the rest of each NodePool's limits beside the active nodes but some; NodePools without limits are left out."""
        left = {name: dict(limits) for name, limits in self._limits_left.items()}
        for state in self._states(leaving) if left else ():
            limits = left.get(state.labels.get(NODEPOOL) or "")
            if limits:
                capacity = state.capacity()
                limits.update((name, limits[name] + capacity[name]) for name in limits.keys() & capacity.keys())
        return left

    @property
    def position_of(self) -> dict[str, int]:
        """Positions of existing nodes by name."""
        return self.room.position_of

    def with_room(self, amounts: tuple[tuple[str, int], ...]) -> int:
        """The existing nodes that have, as long as nothing is put on them, that much of each resource."""
        return self.room.holding(amounts)

    @cached_property
    def _domains(self) -> Domains:
        """The universe of topology domains, the same object while NodePools and instance types are the same."""
        indexes = [self.indexes.get(name_of(pool)) for pool in self.nodepools]
        entry: tuple[Sequence[Object], list[CatalogIndex | None], Domains] | None = self._memory.models.get(Domains)
        if (
            entry is None
            or not same_objects(entry[1], indexes)
            or not all(alike(*pools) for pools in zip(entry[0], self.nodepools, strict=True))
        ):
            made = Domains(self.algebra, self.nodepools, self.indexes)
            entry = self._memory.models[Domains] = self.nodepools, indexes, made
        return entry[2]

    @property
    def topology(self) -> tuple[ClusterTopology, InverseGroups]:
        """The topology groups of the cluster's running pods at this look."""
        topology: ClusterTopology | None = self._memory.models.get(ClusterTopology)
        if topology is None or topology.domains is not self._domains or topology.rules is not self.rules:
            topology = self._memory.models[ClusterTopology] = ClusterTopology(self.algebra, self._domains, self.rules)
        snapshot, fleet = self.state.snapshot, self.state.fleet
        topology.look(fleet, snapshot.nodes, snapshot.namespaces)
        return topology, topology.inverse_groups(repelling_pods(fleet))
