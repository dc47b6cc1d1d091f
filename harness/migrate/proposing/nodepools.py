"""The NodePool of an agent pool: which machines it makes, how many, and when they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.labels import azure, core
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS, ZONE
from harness.migrate.agent_pools import POOLS_BLOCK, AgentPool
from harness.migrate.proposing.sizes import Size
from lazyrecords import dataclass

__all__ = ["Bounds", "Demand", "is_by_capacity", "limits_of", "nodepool_of", "requirements_of", "static_of"]

API_VERSION = f"{core.GROUP}/v1"


@dataclass(frozen=True, slots=True)
class Demand:
    """The most that one pod of a pool's asks for: whole vCPUs and MiB, rounded up."""

    vcpus: int = 0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a NodePool's machines; None where nothing says so."""

    most: int | None = None
    nodes_limited: bool = True
    """Whether the release counts nodes as a limit."""


def _in(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _above(key: str, number: int) -> dict[str, Any]:
    return {"key": key, "operator": "Gt", "values": [str(number)]}


def requirements_of(
    pool: AgentPool, sizes: Sequence[Size], region: str, *, widened: Demand | None = None, ultra_ssd: bool = False
) -> list[dict[str, Any]]:
    """Return a NodePool's requirements: the pool's own sizes, or with `widened` every size of their families that holds its pods.

    `ultra_ssd`: the release's offerings say whether they take ultra disks.
    """
    arches = sorted({size.arch for size in sizes})
    requirements = [_in(ARCH, *arches), _in(OS, "linux")]
    if widened is None:
        requirements.append(_in(INSTANCE_TYPE, *(size.name for size in sizes)))
    else:
        requirements += _widened(sizes, widened)
    requirements.append(_in(core.CAPACITY_TYPE, *((core.SPOT, core.ON_DEMAND) if pool.is_spot else (core.ON_DEMAND,))))
    if pool.zones and region:
        requirements.append(_in(ZONE, *(f"{region}-{zone}" for zone in pool.zones)))
    if pool.properties.get("enableUltraSSD") and ultra_ssd:
        requirements.append(_in(azure.SKU_ULTRA_SSD, "true"))
    return requirements


def _widened(sizes: Sequence[Size], demand: Demand) -> list[dict[str, Any]]:
    """Families of the same letter, GPUs of the same kind, and what one pod needs at least."""
    requirements = [_in(azure.SKU_FAMILY, *sorted({size.labels.get(azure.SKU_FAMILY, "") for size in sizes} - {""}))]
    gpus = sorted({size.labels.get(azure.SKU_GPU_NAME, "") for size in sizes if size.has_gpu} - {""})
    if gpus:
        requirements.append(_in(azure.SKU_GPU_NAME, *gpus))
    if all(size.labels.get(azure.SKU_PREMIUM_STORAGE) == "true" for size in sizes):
        requirements.append(_in(azure.SKU_PREMIUM_STORAGE, "true"))
    if demand.vcpus > 1:
        requirements.append(_above(azure.SKU_CPU, demand.vcpus - 1))
    if demand.memory_mib > 1:
        requirements.append(_above(azure.SKU_MEMORY, demand.memory_mib - 1))
    return requirements


def limits_of(sizes: Sequence[Size], bounds: Bounds) -> dict[str, Any]:
    """Return the limits that `most` machines of the largest size come to, which may be none; nothing without a bound."""
    if bounds.most is None:
        return {}
    vcpus, mebibytes = max(size.vcpus for size in sizes), max(size.memory_mib for size in sizes)
    nodes = {"nodes": str(bounds.most)} if bounds.nodes_limited else {}
    return {"cpu": str(vcpus * bounds.most), "memory": _memory(mebibytes * bounds.most), **nodes}


def _memory(mebibytes: int) -> str:
    return f"{mebibytes // 1024}Gi" if mebibytes % 1024 == 0 else f"{mebibytes}Mi"


def nodepool_of(
    name: str, nodeclass: str, pool: AgentPool, requirements: Sequence[Mapping[str, Any]], **spec: Any
) -> dict[str, Any]:
    """Return a NodePool; keywords are further fields of its `spec`, empty ones left out."""
    taints = [taint for taint in pool.taints() if taint["key"] != POOLS_BLOCK]
    startup = pool.taints("nodeInitializationTaints")
    labels = {key: value for key, value in pool.labels.items() if key not in _BY_CAPACITY}
    template: dict[str, Any] = {
        "nodeClassRef": {"group": azure.GROUP, "kind": "AKSNodeClass", "name": nodeclass},
        "requirements": [dict(requirement) for requirement in requirements],
        **({"taints": taints} if taints else {}),
        **({"startupTaints": startup} if startup else {}),
        "expireAfter": "Never",
    }
    metadata = {"metadata": {"labels": labels}} if labels else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {**metadata, "spec": template}, **{key: value for key, value in spec.items() if value}},
    }


_BY_CAPACITY = frozenset({azure.AKS_SCALE_SET_PRIORITY, azure.AKS_PRIORITY})
"""Labels that follow from the capacity type: as labels of a NodePool they would forbid the other one."""


def is_by_capacity(key: str) -> bool:
    """Return whether a label follows from whether a machine is a spot machine."""
    return key in _BY_CAPACITY


def static_of(nodepool: Mapping[str, Any], name: str, replicas: int) -> dict[str, Any]:
    """Return a static NodePool beside another one: so many machines at any time, of the same kind."""
    spec = {key: value for key, value in nodepool["spec"].items() if key not in ("limits", "disruption")}
    disruption = {"consolidateAfter": "Never"}
    return {**nodepool, "metadata": {"name": name}, "spec": {"replicas": replicas, "disruption": disruption, **spec}}
