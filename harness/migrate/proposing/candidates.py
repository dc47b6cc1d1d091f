"""Agent pools that may become NodePools, each with what its AKSNodeClass can say, or the reason why it stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.karpenter.releases import ProviderRelease
from harness.migrate.agent_pools import AgentPool
from harness.migrate.proposing.accepting import Removed, accepted
from harness.migrate.proposing.nodeclasses import Carried, carried_fields, image_family, mapped_row, nodeclass_of
from harness.migrate.proposing.rows import Row, Verdict, value_text
from harness.migrate.proposing.sizes import Size, Unusable, size_of
from harness.world import World
from lazyrecords import dataclass

__all__ = ["Candidate", "Staying", "candidate_of", "carried_row"]


@dataclass(frozen=True, slots=True)
class Staying:
    """An agent pool that stays as it is, and why."""

    pool: AgentPool
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent pool that may move: its image family, its sizes, the fields of its AKSNodeClass, and rows of all fields about that."""

    pool: AgentPool
    family: str
    sizes: Sequence[Size]
    carried: Sequence[Carried]
    rows: Sequence[Row]

    @property
    def likeness(self) -> tuple[Any, ...]:
        """Return the properties that pools have in common to be joined; scaling by the autoscaler on one side only keeps them apart."""
        pool = self.pool
        return (
            nodeclass_of("", self.family, self.carried)["spec"],
            sorted(pool.labels.items()),
            sorted(map(str, pool.taints())),
            sorted(map(str, pool.taints("nodeInitializationTaints"))),
            pool.is_spot,
            pool.scales,
            bool(pool.properties.get("enableUltraSSD")),
            sorted({size.arch for size in self.sizes}),
            any(size.has_gpu for size in self.sizes),
        )


def candidate_of(world: World, pool: AgentPool) -> Candidate | Staying:
    """Return a pool as it could move, or why it stays."""
    if why := _stays(pool):
        return Staying(pool, why)
    family = image_family(pool, world.release)
    if family is None:
        return Staying(pool, f"provider {world.release.version} has no images of {pool.text('osSKU')}")
    carried, rows = _carried(world, pool)
    nodeclass = nodeclass_of("probe", family, carried)
    sizes: list[Size] = []
    for size in (size_of(world, name, nodeclass) for name in pool.sizes):
        if isinstance(size, Unusable):
            return Staying(pool, f"Karpenter offers no such size: {size.why}")
        sizes.append(size)
    return Candidate(pool, family, sizes, carried, rows)


def _stays(pool: AgentPool) -> str:
    """Return why a pool has to stay under any release; empty where it need not."""
    if pool.is_system:
        return "a system pool: AKS keeps its own pods there"
    if pool.is_windows:
        return "Windows: the provider makes Linux Nodes only"
    if pool.text("mode").lower() == "gateway":
        return "a gateway pool, which AKS needs for static egress"
    return ""


def _carried(world: World, pool: AgentPool) -> tuple[list[Carried], list[Row]]:
    """Return the fields of the AKSNodeClass, and rows of those that the release lacks; a field that is refused is a row, too."""
    release: ProviderRelease = world.release
    fields = list(carried_fields(pool, release))
    carried = [entry for entry in fields if isinstance(entry, Carried)]
    rows = [entry for entry in fields if isinstance(entry, Row)]
    removed: list[Removed] = []
    accepted(nodeclass_of("probe", "Ubuntu", carried), release, world.kubernetes, removed.append)
    for part in removed:
        path = tuple(str(step) for step in part.pointer[1:])
        for entry in [entry for entry in carried if entry.path[: len(path)] == path]:
            carried.remove(entry)
            rows.append(carried_row(pool, entry, part, release))
    mode = str(world.options.provision_mode)
    return carried, [*(mapped_row(pool.name, entry, mode) for entry in carried), *rows]


def carried_row(pool: AgentPool, entry: Carried, part: Removed, release: ProviderRelease) -> Row:
    """Return the row of a field that the AKSNodeClass cannot have after all."""
    return Row(
        pool.name, entry.field, value_text(entry.value), Verdict.NO_EQUIVALENT, part.text, f"CRD of {release.version}"
    )
