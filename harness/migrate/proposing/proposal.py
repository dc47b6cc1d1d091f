"""The successors of a cluster's agent pools: manifests that a release accepts, and a row for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from harness.karpenter.labels import azure
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation.crds import has_field
from harness.migrate.agent_pools import AgentPool, ManagedCluster
from harness.migrate.proposing.accepting import Removed, Unacceptable, accepted
from harness.migrate.proposing.autoscaler import autoscaler_rows, disruption_of
from harness.migrate.proposing.fields import left_row
from harness.migrate.proposing.nodeclasses import (
    Carried,
    carried_fields,
    image_family,
    mapped_row,
    nodeclass_of,
    plain_fields,
)
from harness.migrate.proposing.nodepools import API_VERSION, Demand, limits_of, nodepool_of, requirements_of, static_of
from harness.migrate.proposing.pool_rows import bounds_of, bounds_rows, machine_rows
from harness.migrate.proposing.rows import Row, Verdict, value_text
from harness.migrate.proposing.sizes import Size, Unusable, size_of
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
class Staying:
    """An agent pool that stays as it is, and why."""

    pool: AgentPool
    why: str


@dataclass(frozen=True, slots=True)
class ProposedPool:
    """The manifests that take the place of an agent pool, or of several that were joined; `static` is one of its minimum, or None."""

    pools: tuple[AgentPool, ...]
    nodepool: Mapping[str, Any]
    nodeclass: Mapping[str, Any]
    static: Mapping[str, Any] | None = None

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
    for pool in cluster.pools:
        if not pool.is_karpenters:
            proposing.add(pool)
    rows = (*proposing.rows, *autoscaler_rows(cluster.autoscaler))
    return Proposal(tuple(proposing.pools), tuple(proposing.staying), rows)


class _Proposing:
    """Proposes one pool after the other; names that are taken stay so."""

    def __init__(self, world: World, cluster: ManagedCluster, plan: Plan) -> None:
        self._world, self._cluster, self._plan = world, cluster, plan
        self._release: ProviderRelease = world.release
        self._taken = set(plan.taken)
        self._static_allowed = _makes_static(world)
        self._sizes: dict[str, Sequence[Size]] = {}
        """The sizes of each agent pool that moves, by its name."""
        self.pools: list[ProposedPool] = []
        self.staying: list[Staying] = []
        self.rows: list[Row] = []

    def add(self, pool: AgentPool) -> None:
        """Propose what takes the place of a pool, or say why it stays."""
        family = image_family(pool, self._release)
        why = _stays(pool, family, self._release)
        sizes: list[Size] = []
        if not why:
            carried, rows = self._carried(pool)
            nodeclass = nodeclass_of("probe", str(family), carried)
            for size in (size_of(self._world, name, nodeclass) for name in pool.sizes):
                if isinstance(size, Unusable):
                    why = f"Karpenter offers no such size: {size.why}"
                else:
                    sizes.append(size)
        if why:
            self.staying.append(Staying(pool, why))
            return
        self._sizes[pool.name] = sizes
        try:
            self._propose(pool, str(family), sizes, carried, rows)
        except Unacceptable as error:
            self.staying.append(Staying(pool, f"no NodePool of it is accepted: {error}"))

    def _carried(self, pool: AgentPool) -> tuple[list[Carried], list[Row]]:
        """Return the fields of the AKSNodeClass, and rows of those that the release lacks; a field that is refused is a row, too."""
        fields = list(carried_fields(pool, self._release))
        carried = [entry for entry in fields if isinstance(entry, Carried)]
        rows = [entry for entry in fields if isinstance(entry, Row)]
        removed: list[Removed] = []
        probe = nodeclass_of("probe", "Ubuntu", carried)
        accepted(probe, self._release, self._world.kubernetes, removed.append)
        for part in removed:
            path = tuple(str(step) for step in part.pointer[1:])
            for entry in [entry for entry in carried if entry.path[: len(path)] == path]:
                carried.remove(entry)
                text = f"refused: {part.rejection.message or part.rejection.text}"
                source = f"CRD of {self._release.version}"
                rows.append(Row(pool.name, entry.field, value_text(entry.value), Verdict.NO_EQUIVALENT, text, source))
        mode = str(self._world.options.provision_mode)
        return carried, [*(mapped_row(pool.name, entry, mode) for entry in carried), *rows]

    def _propose(
        self, pool: AgentPool, family: str, sizes: Sequence[Size], carried: list[Carried], rows: list[Row]
    ) -> None:
        joined = self._joined(pool, family, carried, sizes) if self._plan.merge else None
        if joined is not None:
            self.pools[self.pools.index(joined)] = self._widened(joined, pool, sizes)
            self.rows += [*self._rows_of(pool, sizes, rows, [], joined.name)]
            return
        name = self._free(pool.name)
        bounds = bounds_of(pool, self._release, gate=self._static_allowed)
        requirements = self._requirements(pool, sizes, self._plan.demands.get(pool.name, Demand()))
        disruption = disruption_of(self._cluster.autoscaler)
        limits = limits_of(sizes, bounds.dynamic)
        draft = nodepool_of(name, name, pool, requirements, disruption=disruption, limits=limits)
        removed: list[Removed] = []
        nodepool = accepted(draft, self._release, self._world.kubernetes, removed.append)
        nodeclass = accepted(nodeclass_of(name, family, carried), self._release, self._world.kubernetes, removed.append)
        static = None
        if bounds.static:
            static = static_of(nodepool, self._free(f"{name}-min"), bounds.static)
            static = accepted(static, self._release, self._world.kubernetes, removed.append)
        self.pools.append(ProposedPool((pool,), nodepool, nodeclass, static))
        self.rows += self._rows_of(pool, sizes, rows, removed, name)

    def _rows_of(
        self, pool: AgentPool, sizes: Sequence[Size], rows: list[Row], removed: list[Removed], name: str
    ) -> Iterator[Row]:
        result = [*rows, *machine_rows(pool, sizes, self._release, region=self._world.region, widen=self._plan.widen)]
        result += bounds_rows(pool, self._release, name, gate=self._static_allowed)
        refused = [_refused_row(pool, part, self._release) for part in removed]
        result = [*(row for row in result if row.field not in {refusal.field for refusal in refused}), *refused]
        there = {row.field for row in result}
        yield from result
        for field_name, value in plain_fields(pool):
            if field_name not in there and not any(row_field.startswith(f"{field_name}.") for row_field in there):
                yield left_row(pool.name, field_name, value)

    def _free(self, name: str) -> str:
        """A name that neither the cluster nor another proposal has."""
        free, number = name, 2
        while free in self._taken:
            free = f"{name}-nap" if number == 2 else f"{name}-nap{number}"
            number += 1
        self._taken.add(free)
        return free

    def _requirements(self, pool: AgentPool, sizes: Sequence[Size], demand: Demand) -> list[dict[str, Any]]:
        widened = demand if self._plan.widen else None
        ultra = azure.SKU_ULTRA_SSD in self._release.offering_keys
        return requirements_of(pool, sizes, self._world.region, widened=widened, ultra_ssd=ultra)

    def _joined(
        self, pool: AgentPool, family: str, carried: list[Carried], sizes: Sequence[Size]
    ) -> ProposedPool | None:
        """The proposed pool that this one differs from in size and zone only."""
        mine = _likeness(pool, nodeclass_of("", family, carried), sizes)
        for proposed_pool in self.pools:
            first = proposed_pool.pools[0]
            if _likeness(first, proposed_pool.nodeclass, self._sizes[first.name]) == mine:
                return proposed_pool
        return None

    def _widened(self, joined: ProposedPool, pool: AgentPool, sizes: Sequence[Size]) -> ProposedPool:
        """The proposed pool with the sizes and zones of one pool more; limits are those of both."""
        pools = (*joined.pools, pool)
        by_name = {size.name: size for agent_pool in joined.pools for size in self._sizes[agent_pool.name]}
        all_sizes = [*(by_name | {size.name: size for size in sizes}).values()]
        zones = (
            sorted({zone for agent_pool in pools for zone in agent_pool.zones})
            if all(agent_pool.zones for agent_pool in pools)
            else []
        )
        first = replace(pool, properties={**joined.pools[0].properties, "availabilityZones": zones})
        requirements = self._requirements(first, all_sizes, Demand())
        bounds = [bounds_of(agent_pool, self._release, gate=False).dynamic for agent_pool in pools]
        most = (
            sum(agent_pool.most or 0 for agent_pool in bounds)
            if all(agent_pool.most is not None for agent_pool in bounds)
            else None
        )
        limits = limits_of(all_sizes, replace(bounds[0], most=most))
        spec = {key: value for key, value in joined.nodepool["spec"].items() if key != "limits"}
        template = spec["template"]
        spec |= {"template": {**template, "spec": {**template["spec"], "requirements": requirements}}}
        nodepool = {**joined.nodepool, "spec": {**spec, **({"limits": limits} if limits else {})}}
        return replace(joined, pools=pools, nodepool=nodepool)


def _makes_static(world: World) -> bool:
    """Return whether the release knows static NodePools, and its feature gate is open."""
    release = world.release
    in_release = STATIC_CAPACITY in release.core.gates and has_field(
        release.crds, f"{API_VERSION}/NodePool", "spec.replicas"
    )
    return in_release and world.options.gate(STATIC_CAPACITY)


def _likeness(pool: AgentPool, nodeclass: Mapping[str, Any], sizes: Sequence[Size]) -> tuple[Any, ...]:
    """Return the properties that two pools have in common to be joined; scaling by the autoscaler on one side only keeps them apart."""
    return (
        nodeclass["spec"],
        sorted(pool.labels.items()),
        sorted(map(str, pool.taints())),
        sorted(map(str, pool.taints("nodeInitializationTaints"))),
        pool.is_spot,
        pool.scales,
        bool(pool.properties.get("enableUltraSSD")),
        sorted({size.arch for size in sizes}),
        any(size.has_gpu for size in sizes),
    )


def _stays(pool: AgentPool, family: str | None, release: ProviderRelease) -> str:
    """Return why a pool has to stay an agent pool; empty where it need not."""
    if pool.is_system:
        return "a system pool: AKS keeps its own pods there"
    if pool.is_windows:
        return "Windows: the provider makes Linux Nodes only"
    if pool.text("mode").lower() == "gateway":
        return "a gateway pool, which AKS needs for static egress"
    if family is None:
        return f"provider {release.version} has no images of {pool.text('osSKU')}"
    return ""


def _refused_row(pool: AgentPool, part: Removed, release: ProviderRelease) -> Row:
    pointer = part.pointer
    if "labels" in pointer:
        name, value = f"nodeLabels.{pointer[-1]}", value_text(part.value)
    elif "taints" in pointer:
        name, value = "nodeTaints", value_text(part.value)
    else:
        name, value = ".".join(map(str, pointer)), value_text(part.value)
    text = f"refused: {part.rejection.message or part.rejection.text}"
    return Row(pool.name, name, value, Verdict.NO_EQUIVALENT, text, f"CRD of {release.version}")
