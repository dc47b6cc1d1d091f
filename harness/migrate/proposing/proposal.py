"""The successors of a cluster's agent pools: manifests that a release accepts, and a row for each field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from harness.karpenter.labels import azure
from harness.karpenter.validation.crds import has_field
from harness.migrate.agent_pools import AgentPool, ManagedCluster
from harness.migrate.proposing.accepting import Removed, Unacceptable, accepted
from harness.migrate.proposing.autoscaler import autoscaler_rows, disruption_of
from harness.migrate.proposing.candidates import Candidate, Staying, candidate_of
from harness.migrate.proposing.fields import left_row
from harness.migrate.proposing.nodeclasses import nodeclass_of, plain_fields
from harness.migrate.proposing.nodepools import API_VERSION, Demand, limits_of, nodepool_of, requirements_of, static_of
from harness.migrate.proposing.pool_rows import PoolBounds, bounds_of, bounds_rows, joined_row, machine_rows
from harness.migrate.proposing.removals import corrected, corrected_profile, refused_rows
from harness.migrate.proposing.rows import Row, Verdict, undecided_row
from harness.migrate.proposing.sizes import Size
from harness.migrate.proposing.widening import Widening, widening_of
from harness.world import World
from lazyrecords import dataclass

__all__ = ["Plan", "Proposal", "ProposedPool", "Staying", "proposed"]

STATIC_CAPACITY = "StaticCapacity"


@dataclass(frozen=True, slots=True)
class Plan:
    """The wishes of the user beside the pools.

    `taken`: names of NodePools and AKSNodeClasses that the cluster has. `demands`: of each pool, the most that one of its pods asks for;
    they are looked at only where `widen` lets a NodePool make other sizes. `merge` joins pools that differ in size and zone only.
    """

    taken: frozenset[str] = frozenset()
    widen: bool = False
    merge: bool = False
    demands: Mapping[str, Demand] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposedPool:
    """The manifests that take the place of an agent pool, or of several that were joined.

    `nodepool` is a static one where no machine may be made beside the minimum; else `static` is one of the minimum, or None. `widening`:
    the sizes that it may make beside the pools' own, where that was wished.
    """

    pools: tuple[AgentPool, ...]
    nodepool: Mapping[str, Any]
    nodeclass: Mapping[str, Any]
    static: Mapping[str, Any] | None = None
    widening: Widening | None = None

    @property
    def name(self) -> str:
        """Return the name of the NodePool."""
        return str(self.nodepool["metadata"]["name"])

    @property
    def nodepool_names(self) -> tuple[str, ...]:
        """Return the names of its NodePools: the dynamic one, and that of its minimum."""
        static = () if self.static is None else (str(self.static["metadata"]["name"]),)
        return (self.name, *static)

    @property
    def manifests(self) -> tuple[Mapping[str, Any], ...]:
        """Return its objects in the order in which they are applied."""
        return (self.nodeclass, self.nodepool, *([self.static] if self.static is not None else ()))


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal for a cluster: pools that move, pools that stay, and what became of every field."""

    pools: tuple[ProposedPool, ...]
    staying: tuple[Staying, ...]
    rows: tuple[Row, ...]

    @property
    def manifests(self) -> tuple[Mapping[str, Any], ...]:
        """Return all objects in the order in which they are applied."""
        return tuple(manifest for pool in self.pools for manifest in pool.manifests)

    def of(self, pool: str) -> ProposedPool | None:
        """Return what takes the place of an agent pool; None where it stays."""
        return next(
            (
                proposed_pool
                for proposed_pool in self.pools
                if any(agent_pool.name == pool for agent_pool in proposed_pool.pools)
            ),
            None,
        )

    @property
    def lost(self) -> tuple[Row, ...]:
        """Return the rows of what has no equivalent, or is unknown."""
        return tuple(row for row in self.rows if row.verdict in (Verdict.NO_EQUIVALENT, Verdict.UNKNOWN))


def proposed(world: World, cluster: ManagedCluster, plan: Plan) -> Proposal:
    """Return the proposal for a cluster under the release and in the region of a world, which stays as it is."""
    proposing = _Proposing(world, cluster, plan)
    staying: list[Staying] = []
    groups: list[list[Candidate]] = []
    for pool in cluster.pools:
        if pool.is_karpenters:
            continue
        candidate = candidate_of(world, pool)
        if isinstance(candidate, Staying):
            staying.append(candidate)
            continue
        alike = [group for group in groups if plan.merge and group[0].likeness == candidate.likeness]
        if alike:
            alike[0].append(candidate)
        else:
            groups.append([candidate])
    pools = []
    for group in groups:
        try:
            pools.append(proposing.propose(group))
        except Unacceptable as error:
            staying += [Staying(candidate.pool, f"no NodePool of it is accepted: {error}") for candidate in group]
    profile = corrected_profile(autoscaler_rows(cluster.autoscaler), proposing.removed, world.release)
    undecided = [undecided_row("cluster", name) for name in cluster.undecided]
    return Proposal(tuple(pools), tuple(staying), (*proposing.rows, *undecided, *profile))


class _Proposing:
    """Proposes one NodePool after the other; names that are taken stay so."""

    def __init__(self, world: World, cluster: ManagedCluster, plan: Plan) -> None:
        self._world, self._cluster, self._plan = world, cluster, plan
        self._taken = set(plan.taken)
        self._static_allowed = _makes_static(world)
        self.rows: list[Row] = []
        self.removed: list[Removed] = []
        """The parts that were refused of any NodePool."""

    def propose(self, group: Sequence[Candidate]) -> ProposedPool:
        """Return what takes the place of pools that are alike, or of one. Raises Unacceptable."""
        first, pools = group[0], tuple(candidate.pool for candidate in group)
        name = self._free(first.pool.name)
        bounds = bounds_of(pools, self._world.release, gate=self._static_allowed)
        sizes = [*{size.name: size for candidate in group for size in candidate.sizes}.values()]
        of_nodepool: list[Removed] = []
        of_nodeclass: list[Removed] = []
        nodepool = self._accepted(self._nodepool(name, group, sizes, bounds), of_nodepool)
        nodeclass = self._accepted(nodeclass_of(name, first.family, first.carried), of_nodeclass)
        static = None
        if bounds.only_static:
            nodepool = self._accepted(static_of(nodepool, name, bounds.static), of_nodepool)
        elif bounds.static:
            static = self._accepted(static_of(nodepool, self._free(f"{name}-min"), bounds.static), of_nodepool)
        widening = None
        if self._plan.widen:
            widening = widening_of(self._world, nodepool, nodeclass, sizes, spot=first.pool.is_spot)
        result = ProposedPool(pools, nodepool, nodeclass, static, widening)
        for candidate in group:
            refused = list(refused_rows(candidate, of_nodepool, of_nodeclass, self._world.release))
            self.rows += self._rows_of(candidate, refused, bounds, result)
        if len(pools) > 1:
            self.rows += [joined_row(pool, pools, name) for pool in pools]
        self.removed += of_nodepool
        return result

    def _accepted(self, draft: Mapping[str, Any], removed: list[Removed]) -> dict[str, Any]:
        return accepted(draft, self._world.release, self._world.kubernetes, removed.append)

    def _nodepool(
        self, name: str, group: Sequence[Candidate], sizes: Sequence[Size], bounds: PoolBounds
    ) -> dict[str, Any]:
        """The NodePool of pools that are alike, as it is wished: their sizes and zones, and their bounds together."""
        pool = _joined([candidate.pool for candidate in group])
        demands = [self._plan.demands.get(candidate.pool.name, Demand()) for candidate in group]
        most = Demand(max(demand.vcpus for demand in demands), max(demand.memory_mib for demand in demands))
        requirements = requirements_of(
            pool,
            sizes,
            self._world.region,
            widened=most if self._plan.widen else None,
            ultra_ssd=azure.SKU_ULTRA_SSD in self._world.release.offering_keys,
        )
        disruption = disruption_of(self._cluster.autoscaler)
        return nodepool_of(
            name, name, pool, requirements, disruption=disruption, limits=limits_of(sizes, bounds.dynamic)
        )

    def _rows_of(
        self, candidate: Candidate, refused: Sequence[Row], bounds: PoolBounds, result: ProposedPool
    ) -> Iterator[Row]:
        pool, release = candidate.pool, self._world.release
        widening = result.widening.text if result.widening is not None else ""
        rows = [
            *candidate.rows,
            *machine_rows(pool, candidate.sizes, release, region=self._world.region, widening=widening),
            *bounds_rows(pool, bounds, release, result.nodepool_names[-1]),
        ]
        rows = [*corrected(rows, refused), *(undecided_row(pool.name, name) for name in pool.undecided)]
        there = {row.field for row in rows}
        yield from rows
        for field_name, value in plain_fields(pool):
            if field_name not in there and not any(row_field.startswith(f"{field_name}.") for row_field in there):
                yield left_row(pool.name, field_name, value)

    def _free(self, name: str) -> str:
        """A name that Kubernetes takes, and neither the cluster nor another proposal has."""
        plain = re.sub("[^a-z0-9-]+", "-", name.lower()).strip("-") or "pool"
        free, number = plain, 2
        while free in self._taken:
            free = f"{plain}-nap" if number == 2 else f"{plain}-nap{number}"
            number += 1
        self._taken.add(free)
        return free


def _joined(pools: Sequence[AgentPool]) -> AgentPool:
    """The first pool with the zones of all; in no zone where one of them is in none."""
    zones = sorted({zone for pool in pools for zone in pool.zones}) if all(pool.zones for pool in pools) else []
    return replace(pools[0], properties={**pools[0].properties, "availabilityZones": zones})


def _makes_static(world: World) -> bool:
    """Return whether the release knows static NodePools, and its feature gate is open."""
    release = world.release
    in_release = STATIC_CAPACITY in release.core.gates and has_field(
        release.crds, f"{API_VERSION}/NodePool", "spec.replicas"
    )
    return in_release and world.options.gate(STATIC_CAPACITY)
