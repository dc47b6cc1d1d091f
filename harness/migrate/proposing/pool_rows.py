"""Rows of the fields that a NodePool takes over: sizes, zones, priority, labels, taints, counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.karpenter.labels import azure, core
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.scheduling import rules_of
from harness.kube.api.labels import ZONE
from harness.kube.scheduling.taints import taint_text
from harness.migrate.agent_pools import POOLS_BLOCK, AgentPool
from harness.migrate.proposing.nodepools import Bounds, is_by_capacity
from harness.migrate.proposing.rows import Row, Verdict, value_text
from harness.migrate.proposing.sizes import Size
from harness.wording import first_few
from lazyrecords import dataclass

__all__ = ["PoolBounds", "bounds_of", "bounds_rows", "joined_row", "machine_rows"]

_TEMPLATE = "NodePool spec.template"
_REQUIREMENT = f"{_TEMPLATE}.spec.requirements"
_NODEPOOL = "core pkg/apis/v1/nodepool.go"
_DISKS = "kaz pkg/providers/instancetype/instancetypes.go"
_DISK_GB = 128
"""The OS disk where nobody says (kaz ``pkg/apis/v1beta1/aksnodeclass.go``)."""
_OVERSHOOT = (
    "a machine that is going counts no more while its successor already runs (core pkg/controllers/state/cluster.go), so that for a "
    "while there may be more"
)


@dataclass(frozen=True, slots=True)
class PoolBounds:
    """`dynamic`: what limits the NodePool; `static`: how many machines a static NodePool has, 0 for none."""

    dynamic: Bounds
    static: int = 0

    @property
    def only_static(self) -> bool:
        """Return whether no machine may be made beside the static ones."""
        return bool(self.static) and self.dynamic.most == 0


def bounds_of(pools: Sequence[AgentPool], release: ProviderRelease, *, gate: bool) -> PoolBounds:
    """Return how many machines take the place of those of pools that become one; `gate`: static NodePools may be made."""
    static = sum(pool.number("minCount") for pool in pools if pool.scales) if gate else 0
    bounded = all(pool.scales and "maxCount" in pool.properties for pool in pools)
    most = max(0, sum(pool.number("maxCount") for pool in pools) - static) if bounded else None
    return PoolBounds(Bounds(most, rules_of(release.core).node_limits), static)


def machine_rows(
    pool: AgentPool, sizes: Sequence[Size], release: ProviderRelease, *, region: str, widening: str = ""
) -> Iterator[Row]:
    """Yield the rows of what a machine is: its size, zones, priority, operating system, labels and taints."""
    names = ", ".join(size.name for size in sizes)
    how = f"sizes of the same family that hold the pool's pods: {widening}" if widening else "exactly this"
    field = "vmSize" if pool.text("vmSize") else "virtualMachinesProfile"
    yield Row(pool.name, field, names, Verdict.MAPPED, f"{_REQUIREMENT}: {how}", _NODEPOOL)
    if "osSKU" in pool.properties:
        text = "AKSNodeClass spec.imageFamily; the version of the system follows the cluster's Kubernetes version"
        yield Row(pool.name, "osSKU", pool.text("osSKU"), Verdict.MAPPED, text, "kaz pkg/providers/imagefamily")
    if "osDiskType" in pool.properties:
        yield _disk_row(pool, sizes)
    if "osType" in pool.properties:
        yield Row(
            pool.name, "osType", pool.text("osType"), Verdict.MAPPED, f"{_REQUIREMENT}: kubernetes.io/os", _NODEPOOL
        )
    if pool.zones:
        zones = ", ".join(f"{region}-{zone}" for zone in pool.zones)
        text = f"{_REQUIREMENT}: {ZONE}; pods are spread over them by their own constraints, machines are not"
        yield Row(pool.name, "availabilityZones", zones, Verdict.MAPPED, text, _NODEPOOL)
    if pool.text("scaleSetPriority"):
        text = f"{_REQUIREMENT}: {core.CAPACITY_TYPE} " + (
            f"{core.SPOT}, or {core.ON_DEMAND} while there is no spot; pods that select scalesetpriority=spot wait for spot"
            if pool.is_spot
            else core.ON_DEMAND
        )
        yield Row(pool.name, "scaleSetPriority", pool.text("scaleSetPriority"), Verdict.MAPPED, text, _NODEPOOL)
    if "enableUltraSSD" in pool.properties:
        yield _ultra_row(pool, release)
    for key, value in pool.labels.items():
        text = "the machine has it by its capacity type" if is_by_capacity(key) else f"{_TEMPLATE}.metadata.labels"
        verdict = Verdict.NO_EFFECT if is_by_capacity(key) else Verdict.MAPPED
        yield Row(pool.name, f"nodeLabels.{key}", value, verdict, text, _NODEPOOL)
    for name, place in (("nodeTaints", "taints"), ("nodeInitializationTaints", "startupTaints")):
        for taint in pool.taints(name):
            verdict, text = Verdict.MAPPED, f"{_TEMPLATE}.spec.{place}"
            if name == "nodeTaints" and taint["key"] == POOLS_BLOCK:
                verdict, text = Verdict.NO_EFFECT, "it is to keep pods off agent pools, so that the NodePool has none"
            yield Row(pool.name, name, taint_text(taint), verdict, text, _NODEPOOL)


def joined_row(pool: AgentPool, pools: Sequence[AgentPool], nodepool: str) -> Row:
    """Return the row of a pool's name, which tells nothing apart once it is joined with other pools as one NodePool."""
    others = first_few([other.name for other in pools if other.name != pool.name], 3)
    text = (
        f"joined with {others} as NodePool {nodepool}: no pod can be kept on or off the machines of one of them by its name, "
        "only by size or zone"
    )
    return Row(pool.name, "name", pool.name, Verdict.NO_EQUIVALENT, text, "--merge")


def _disk_row(pool: AgentPool, sizes: Sequence[Size]) -> Row:
    """Karpenter's disks are ephemeral wherever the size has room (kaz ``pkg/providers/instancetype``); no field says otherwise."""
    needed, kind = pool.number("osDiskSizeGB", _DISK_GB), pool.text("osDiskType")
    ephemeral = [size.name for size in sizes if size.ephemeral_gb >= needed]
    wanted = kind.lower() == "ephemeral"
    if (len(ephemeral) == len(sizes)) if wanted else not ephemeral:
        text = f"Karpenter decides so, too: {'there is' if wanted else 'no'} room for {needed} GB on {', '.join(pool.sizes)}"
        return Row(pool.name, "osDiskType", kind, Verdict.MAPPED, text, _DISKS)
    other = (
        "managed, since the size has no room for an ephemeral one"
        if wanted
        else "ephemeral, since the size has room for it"
    )
    text = f"disks of {needed} GB are {other}; no field says otherwise"
    return Row(pool.name, "osDiskType", kind, Verdict.NO_EQUIVALENT, text, _DISKS)


def _ultra_row(pool: AgentPool, release: ProviderRelease) -> Row:
    value = value_text(pool.properties["enableUltraSSD"])
    if not pool.properties["enableUltraSSD"]:
        return Row(
            pool.name, "enableUltraSSD", value, Verdict.NO_EFFECT, "so it is without a requirement, too", _NODEPOOL
        )
    if azure.SKU_ULTRA_SSD in release.offering_keys:
        text = f"{_REQUIREMENT}: {azure.SKU_ULTRA_SSD}"
        return Row(pool.name, "enableUltraSSD", value, Verdict.MAPPED, text, "kaz pkg/providers/instancetype")
    text = f"{release.version} makes no machines that take ultra disks"
    return Row(pool.name, "enableUltraSSD", value, Verdict.NO_EQUIVALENT, text, "kaz pkg/providers/instancetype")


def bounds_rows(pool: AgentPool, bounds: PoolBounds, release: ProviderRelease, static: str) -> Iterator[Row]:
    """Yield the rows of a pool's counts; `bounds` are those of all pools that become one NodePool, `static` the name of a static one."""
    if "enableAutoScaling" in pool.properties:
        text = (
            "Karpenter always scales" if pool.scales else "a fixed count becomes none: Karpenter makes what pods need"
        )
        yield Row(pool.name, "enableAutoScaling", value_text(pool.scales), Verdict.NO_EFFECT, text, _NODEPOOL)
    if "maxCount" in pool.properties:
        yield _most_row(pool, bounds, release)
    if "minCount" in pool.properties:
        yield _least_row(pool, bounds, release, static)


def _most_row(pool: AgentPool, bounds: PoolBounds, release: ProviderRelease) -> Row:
    most = str(pool.number("maxCount"))
    if not pool.scales:
        return Row(pool.name, "maxCount", most, Verdict.NO_EFFECT, "the pool does not scale", _NODEPOOL)
    if bounds.only_static:
        text = f"the static NodePool has {bounds.static} machines, as many as there may be"
        return Row(pool.name, "maxCount", most, Verdict.MAPPED, text, "core pkg/controllers/static")
    limits = "limits of cpu, memory and nodes" if bounds.dynamic.nodes_limited else "limits of cpu and memory"
    uncounted = f"; {release.version} does not count nodes as a limit of dynamic NodePools"
    more = "" if bounds.dynamic.nodes_limited else uncounted
    text = f"NodePool spec.{limits}{more}; {_OVERSHOOT}"
    return Row(pool.name, "maxCount", most, Verdict.MAPPED, text, "core pkg/controllers/provisioning/scheduling")


def _least_row(pool: AgentPool, bounds: PoolBounds, release: ProviderRelease, static: str) -> Row:
    least = pool.number("minCount")
    if not pool.scales or least == 0:
        return Row(pool.name, "minCount", str(least), Verdict.NO_EFFECT, "nothing is kept without pods", _NODEPOOL)
    if bounds.static:
        text = f"the static NodePool {static} of {bounds.static} machines"
        return Row(pool.name, "minCount", str(least), Verdict.MAPPED, text, "core pkg/controllers/static")
    if "StaticCapacity" in release.core.gates:
        text = (
            "empty machines are not kept: a static NodePool would, whose feature gate StaticCapacity is closed "
            "(--option feature-gates=StaticCapacity=true proposes one)"
        )
    else:
        text = f"empty machines are not kept: {release.version} has no static NodePools"
    return Row(pool.name, "minCount", str(least), Verdict.NO_EQUIVALENT, text, "core pkg/controllers/static")
