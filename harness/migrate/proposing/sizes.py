"""The sizes of an agent pool as Karpenter sees them, and the sizes that would do as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.explain.sizes.filters import filter_text
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.labels import azure
from harness.kube.api.labels import ARCH
from harness.kube.api.objects import Object
from harness.migrate.agent_pools import AgentPool, ManagedCluster
from harness.world import World
from lazyrecords import dataclass

__all__ = ["Size", "Unusable", "size_of", "spelled"]


@dataclass(frozen=True, slots=True)
class Size:
    """A size that Karpenter offers: whole vCPUs, MiB of memory, and the values of its labels by key."""

    name: str
    vcpus: int
    memory_mib: int
    arch: str
    labels: Mapping[str, str]

    @property
    def has_gpu(self) -> bool:
        """Return whether it has a GPU."""
        return self.labels.get(azure.SKU_GPU_COUNT, "0") not in ("", "0")

    @property
    def ephemeral_gb(self) -> int:
        """Return how large an ephemeral OS disk may be; 0 for a size without room for one."""
        text = self.labels.get(azure.SKU_EPHEMERAL_OS_SIZE, "")
        return int(float(text)) if text.replace(".", "", 1).isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Unusable:
    """A size that Karpenter does not offer, and why."""

    name: str
    why: str


_KEYS: Sequence[str] = (
    azure.SKU_FAMILY,
    azure.SKU_GPU_COUNT,
    azure.SKU_GPU_NAME,
    azure.SKU_PREMIUM_STORAGE,
    azure.SKU_EPHEMERAL_OS_SIZE,
)


def size_of(world: World, name: str, nodeclass: Object | None = None) -> Size | Unusable:
    """Return what Karpenter computes for a size with an AKSNodeClass, or why it does not offer it."""
    try:
        instance_type: InstanceType | DroppedSize = world.requirements_of(name, None, nodeclass)
    except LookupError as error:
        return Unusable(name, str(error))
    if isinstance(instance_type, DroppedSize):
        return Unusable(name, f"{name} falls to {filter_text(instance_type.filter)}")
    requirements = instance_type.requirements
    values: dict[str, Any] = {key: requirements.first(key) for key in _KEYS if key in requirements}
    cpu, memory = requirements.first(azure.SKU_CPU), requirements.first(azure.SKU_MEMORY)
    return Size(name, int(cpu), int(memory), requirements.first(ARCH), values)


def spelled(world: World, cluster: ManagedCluster) -> ManagedCluster:
    """Return a cluster whose pools write sizes as Azure sells them: ARM takes any letter case, labels and prices go by one."""
    names = {name.lower(): name for name in world.caches.catalogue.region(world.region).by_name}
    return replace(cluster, pools=tuple(_spelled(pool, names) for pool in cluster.pools))


def _spelled(pool: AgentPool, names: Mapping[str, str]) -> AgentPool:
    written = {key: pool.properties[key] for key in ("vmSize", "virtualMachinesProfile") if key in pool.properties}
    return replace(pool, properties={**pool.properties, **_with_names(written, names)})


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_names(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_names(item, names) for item in value]
    return names.get(value.lower(), value) if isinstance(value, str) else value
