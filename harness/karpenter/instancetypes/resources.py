"""Capacity of a size and what a node reserves of it (kaz ``instancetype.go``)."""

import math
from functools import lru_cache

from harness.karpenter.cloudprovider import Overhead
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.labels.azure import AMD, NVIDIA
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.sizes import gpu_sizes
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import ResourceList
from harness.kube.go.text import to_int64, wrap_int

__all__ = ["capacity", "memory_without_overhead", "overhead"]

# (upper bound, rate): AKS's reservations, memory in GiB, CPU in cores.
_MEMORY_TAX = ((4.0, 0.25), (8.0, 0.20), (16.0, 0.10), (128.0, 0.06), (math.inf, 0.02))
_CPU_TAX = ((1.0, 0.06), (2.0, 0.04), (4.0, 0.02), (math.inf, 0.01))

_MIB = 1 << 20
_NOTHING = Quantity(0)
_EVICTION = {"memory": Quantity.parse("750Mi")}
_SYSTEM = {"cpu": _NOTHING, "memory": _NOTHING}


@lru_cache(maxsize=1024)
def memory_without_overhead(memory_gib: float, percent: float) -> Quantity:
    """Memory in bytes: whole GiB less the fraction that the hypervisor is assumed to take (0.075 = 7.5 %), which is rounded up."""
    total = Quantity.parse(f"{to_int64(memory_gib)}Gi")
    return total - Quantity(math.ceil(float(total.value()) * percent) * NANO)


def capacity(
    sku: Sku, settings: NodeClassSettings, release: ProviderRelease, vm_memory_overhead_percent: float
) -> ResourceList:
    """The capacity that Karpenter expects of a node: cpu, memory (bytes), ephemeral storage (bytes), pods and GPUs."""
    gpu = gpu_sizes(release.gpu_registry).get(gpu_key(sku.name))
    gpus = Quantity((sku.gpus or 0) * NANO)
    manufacturer = gpu.manufacturer if gpu is not None else ""
    amounts = {
        "cpu": Quantity((sku.vcpus or 0) * NANO),
        "memory": memory_without_overhead(sku.memory_gib or 0.0, vm_memory_overhead_percent),
        "ephemeral-storage": Quantity(settings.os_disk_gb * 10**9 * NANO),
        "pods": Quantity(settings.max_pods * NANO),
        "nvidia.com/gpu": gpus if manufacturer == NVIDIA else _NOTHING,
    }
    if release.amd_gpu_capacity:
        amounts["amd.com/gpu"] = gpus if manufacturer == AMD else _NOTHING
    return amounts


@lru_cache(maxsize=1024)
def overhead(vcpus: int, memory_gib: float) -> Overhead:
    """Return the overhead that Karpenter expects: kube-reserved by brackets of CPU and memory, nothing for the system,
    750Mi for eviction.
    """
    memory_mib = to_int64(1024 * _tax(_MEMORY_TAX, memory_gib))
    milli_cpu = int(1000 * _tax(_CPU_TAX, float(vcpus)))
    return Overhead(
        kube_reserved={
            "cpu": Quantity(milli_cpu * NANO // 1000),
            "memory": Quantity(wrap_int(memory_mib * _MIB) * NANO, "BinarySI"),
        },
        system_reserved=_SYSTEM,
        eviction_threshold=_EVICTION,
    )


def _tax(brackets: tuple[tuple[float, float], ...], amount: float) -> float:
    tax = lower = 0.0
    for bound, rate in brackets:
        if lower > amount:
            continue
        tax += (min(bound, amount) - lower) * rate
        lower = bound
    return tax
