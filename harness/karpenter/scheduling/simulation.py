"""Simulations over the objects of a cluster: a provisioning pass, and what would become of pods if some nodes were gone.

Core ``pkg/controllers/provisioning/provisioner.go`` (Schedule, NewScheduler), ``pkg/controllers/disruption/helpers.go``
(SimulateScheduling).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.scheduling.catalog import CatalogIndex, CatalogIndexes
from harness.karpenter.scheduling.context import SchedulingContext
from harness.karpenter.scheduling.kept_simulations import KeptSimulations, Question
from harness.karpenter.scheduling.nodeclaims.inflight import InflightNodeClaim
from harness.karpenter.scheduling.nodeclaims.planned import (
    PlannedNodeClaim,
    SchedulingResults,
    pod_key,
)
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.nodes.cluster_state import ClusterState, is_deleting
from harness.karpenter.scheduling.nodes.consolidate_after import (
    NO_WINDOW,
    ConsolidateAfterWindow,
    consolidate_after,
    is_exempt,
)
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.default_spread import DefaultSpread
from harness.karpenter.scheduling.pods.displaced import Displaced
from harness.karpenter.scheduling.pods.older_pods import (
    with_limits_as_requests,
    with_volumes_in_affinity,
    without_actual_resources,
)
from harness.karpenter.scheduling.pods.pending import PendingPods, usable_nodepools
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.scheduling.scheduler import Scheduler
from harness.karpenter.scheduling.snapshot import ClusterSnapshot, SchedulingOptions
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object, name_of

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.karpenter.releases.core_release import CoreRelease
    from harness.karpenter.scheduling.reasons.ledger import Ledger


class NoNodePools(ValueError):
    """No NodePool can have new nodes, so that core makes no scheduler."""


class Simulations:
    """Simulations over one snapshot, which share what does not depend on the pods that move.

    ``instance_types`` are by NodePool name, each list in the provider's order (by name). Give the same ``indexes`` to all that
    share lists: what was found out about a list is kept there. ``memory``: give the same one to all looks at one cluster.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        instance_types: Mapping[str, Sequence[InstanceType]],
        *,
        release: "ProviderRelease",
        options: SchedulingOptions | None = None,
        indexes: CatalogIndexes | None = None,
        memory: ClusterMemory | None = None,
    ) -> None:
        self.options, self.rules = options or SchedulingOptions(), rules_of(release.core)
        self._memory = memory if memory is not None else ClusterMemory()
        for applies, rewritten in (
            (not self.rules.actual_resources, without_actual_resources),
            (self.rules.limits_as_requests, with_limits_as_requests),
        ):
            if applies:
                snapshot = replace(snapshot, pods=self._memory.rewritten(rewritten, snapshot.pods))
        self._memory.look(snapshot)
        self.snapshot, self._release = snapshot, release
        self._types, self._indexes = instance_types, indexes or CatalogIndexes()
        self._volumes = VolumeLookup(snapshot)
        self.state = ClusterState(snapshot, self._volumes, release.core, self._memory.nodes)
        self.displaced = self.pod_judge()
        self.nodepools = usable_nodepools(snapshot.nodepools, self.options.node_class, self.rules)
        self._affine: dict[int, tuple[Object, Object]] = {}
        self._spreads: dict[int, tuple[Object, Object]] = {}

    def pod_judge(self) -> Displaced:
        """A judge of the pods that nodes would have to give up."""
        snapshot = self.snapshot
        return Displaced(snapshot.pdbs, snapshot.now, self.rules, self._memory.budget_selectors)

    @property
    def core(self) -> "CoreRelease":
        """The release of core that simulates."""
        return self._release.core

    @cached_property
    def pending(self) -> PendingPods:
        """Unbound pods."""
        return PendingPods(self.state.unbound, self._release, self._volumes, self.rules)

    @cached_property
    def _displaced_pods(self) -> list[Object]:
        return self.state.displaced_pods(self.displaced.movable)

    @cached_property
    def _context(self) -> SchedulingContext:
        vocabulary = self._release.vocabulary
        indexes = {
            name_of(pool): self._indexes.of(types, vocabulary, launchable=self.rules.launchable_offerings)
            for pool in self.nodepools
            if (types := self._types.get(name_of(pool)))
        }
        return SchedulingContext(
            self.state, self._volumes, self.nodepools, indexes, self._release, self.options, self._memory
        )

    @cached_property
    def _settling(self) -> ConsolidateAfterWindow:
        """Nodes still within their NodePool's consolidateAfter."""
        after = {name_of(pool): lasting for pool in self.nodepools if (lasting := consolidate_after(pool))}
        return ConsolidateAfterWindow(self._context.existing, after, self.snapshot.now)

    @cached_property
    def deleting_names(self) -> frozenset[str]:
        """The nodes that are going away."""
        return frozenset(node.name for node in self.state.fleet.having(is_deleting).values())

    def _exempt(self, pod: Object) -> bool:
        """Return whether nodes within consolidateAfter take the pod nevertheless."""
        return is_exempt(pod, self.deleting_names)

    def provision(self, ledger: "Ledger | None" = None) -> SchedulingResults:
        """A provisioning pass over everything in the snapshot; a ``ledger`` is told why each NodePool took a pod or not.

        Raises TopologyError when a constraint stops the whole pass, and ValueError (QuantityError) for pods that no API server
        admits.
        """
        pods = self._prepared([*self.pending.accepted, *self._displaced_pods])
        if not pods or not self.nodepools:
            return SchedulingResults(
                ignored=self.pending.ignored,
                events=tuple(self.displaced.events),
                no_nodepools=not self.nodepools,
                momentary=self.displaced.momentary,
            )
        scheduler = Scheduler(self._context, pods, ledger)
        scheduler.run()
        results = scheduler.results(self.pending.ignored)
        events = (*self.displaced.events, *results.events)
        return replace(results, events=events, momentary=True) if self.displaced.momentary else results

    def without(
        self, leaving: Iterable[str], moving: Sequence[Object], *, settled: bool, time_limit: float = inf
    ) -> SchedulingResults:
        """Simulate the cluster without the nodes ``leaving``: place the ``moving`` pods, and those that need a place
        anyway.

        ``settled``: nodes within their NodePool's consolidateAfter take none of ``moving`` (where the release knows
        that). ``time_limit``: virtual seconds; unlike a provisioning pass it has none of its own. Raises NoNodePools,
        and the errors of :meth:`provision`. Core ``pkg/controllers/disruption/helpers.go`` (SimulateScheduling).
        """
        if not self.nodepools:
            raise NoNodePools("no nodepools found")
        pods = self._prepared([*self.pending.accepted, *moving, *self._displaced_pods])
        names, settling, question = frozenset(leaving), self._refusing(settled), None
        if self._context.keeps_simulations:
            question = Question(self._context, pods, names, settling, self._exempt)
            earlier = self._kept.find(question, self.pending.ignored, time_limit)
            if earlier is not None:
                return earlier
        scheduler = Scheduler(
            self._context,
            pods,
            leaving=names,
            settling=settling,
            exempt=self._exempt,
            time_limit=time_limit,
        )
        scheduler.run()
        results = scheduler.results(self.pending.ignored)
        if question is not None:
            self._kept.keep(question, [*scheduler.asked.values()], scheduler.groups.looked_at, results)
        return results

    @cached_property
    def _kept(self) -> KeptSimulations:
        simulations: KeptSimulations = self._memory.models.setdefault(KeptSimulations, KeptSimulations())
        return simulations

    def _refusing(self, settled: bool) -> ConsolidateAfterWindow:
        """The nodes that take exempt pods only."""
        return self._settling if settled and self.rules.settling_nodes_refuse else NO_WINDOW

    def static_nodeclaim(self, nodepool: Object) -> PlannedNodeClaim:
        """A NodeClaim that keeps up the number of nodes of a NodePool with ``replicas``."""
        algebra = self._context.algebra
        template = Template(nodepool, CatalogIndex((), algebra.vocabulary), algebra, self.rules)
        inflight = InflightNodeClaim(template, algebra.only(HOSTNAME, ""), 0)
        return PlannedNodeClaim(inflight, algebra, self.options, self.rules, static=True)

    def _prepared(self, pods: Sequence[Object]) -> Sequence[Object]:
        if self.rules.default_spread and self.options.default_spread:
            return [self._spread(pod) for pod in pods]
        if not self.rules.volumes_in_affinity:
            return pods
        made = []
        for pod in pods:
            entry = self._affine.get(id(pod))
            if entry is None:
                entry = self._affine[id(pod)] = (pod, with_volumes_in_affinity(pod, self._volumes))
            made.append(entry[1])
        return made

    def _spread(self, pod: Object) -> Object:
        entry = self._spreads.get(id(pod))
        if entry is None:
            entry = self._spreads[id(pod)] = (pod, self._default_spread.applied(pod))
        return entry[1]

    @cached_property
    def _default_spread(self) -> DefaultSpread:
        return DefaultSpread(self.options.default_spread, self.snapshot)

    @cached_property
    def pending_keys(self) -> frozenset[str]:
        """The unbound pods (``namespace/name``) that Karpenter considers."""
        return frozenset(pod_key(pod) for pod in self.pending.accepted)

    @cached_property
    def displaced_keys(self) -> frozenset[str]:
        """The pods (``namespace/name``) of nodes that are going away."""
        return frozenset(pod_key(pod) for pod in self._displaced_pods)


def solve(
    snapshot: ClusterSnapshot,
    instance_types: Mapping[str, Sequence[InstanceType]],
    *,
    release: "ProviderRelease",
    options: SchedulingOptions | None = None,
    indexes: CatalogIndexes | None = None,
    ledger: "Ledger | None" = None,
    memory: ClusterMemory | None = None,
) -> SchedulingResults:
    """One provisioning pass over everything in ``snapshot``, see :meth:`Simulations.provision`."""
    simulations = Simulations(
        snapshot, instance_types, release=release, options=options, indexes=indexes, memory=memory
    )
    return simulations.provision(ledger)
