"""The requirements of an instance type (kaz ``instancetype.go`` computeRequirements)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.sku import Ephemeral, Sku
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, SPOT
from harness.karpenter.releases import EphemeralRule, ProviderOptions, ProviderRelease
from harness.karpenter.releases.sizes import gpu_sizes
from harness.karpenter.requirements import Requirement
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS, REGION, ZONE
from harness.kube.go.text import to_int64

__all__ = [
    "Values",
    "architecture",
    "architecture_of",
    "cluster_label",
    "ephemeral_disk",
    "ephemeral_label",
    "of_nodeclass",
    "of_offerings",
    "of_region",
    "of_sku",
    "os_sku",
    "requirements_of",
]

Values = Mapping[str, frozenset[str]]
"""Allowed values by key; none means DoesNotExist."""

_ARCHITECTURES = {"x64": "amd64", "Arm64": "arm64"}
_NONE: frozenset[str] = frozenset()
_BOTH_PRIORITIES = frozenset({keys.REGULAR, SPOT})
_MODES = frozenset({keys.SYSTEM, keys.USER})
_LINUX = frozenset({"linux"})
_MAX_LABEL = 63


@lru_cache(maxsize=1 << 16)
def _only(value: str) -> frozenset[str]:
    """The set of one value, one object for equal values, since sizes share most of theirs."""
    return frozenset({value})


_OFFERING_KEYS = (ZONE, CAPACITY_TYPE, keys.PLACEMENT_SCOPE, keys.SKU_ULTRA_SSD)


def architecture(sku: Sku) -> str:
    """``amd64``, ``arm64``, or ARM's own text when it is neither."""
    text = sku.architecture or ""
    return _ARCHITECTURES.get(text, text)


def architecture_of(item: InstanceType) -> str:
    """The architecture that an instance type requires."""
    return next(iter(item.requirements.get(ARCH).values), "")


def cluster_label(node_resource_group: str) -> str:
    """The node resource group as a label value: no parentheses, at most 63 bytes, no punctuation at the end."""
    text = node_resource_group.replace("(", "-").replace(")", "-")
    # Go cuts bytes; a cut character stays out rather than half in
    text = text.encode()[:_MAX_LABEL].decode(errors="ignore")
    if text.endswith(("-", "_", ".")):
        return text[:-1] + "z" if len(text.encode()) == _MAX_LABEL else text + "z"
    return text


def os_sku(image_family: str, families: Mapping[str, str]) -> str:
    """The AKS OS SKU of an image family; Ubuntu for the empty one, unknown families unchanged."""
    return families.get(image_family or "Ubuntu", image_family)


def ephemeral_label(sku: Sku, rule: EphemeralRule) -> str | None:
    """The largest ephemeral OS disk in GB as a label value, None without one."""
    if rule is EphemeralRule.FIRST_OF_NVME_CACHE_RESOURCE:
        return str(sku.ephemeral.size_gb) if sku.ephemeral is not None and sku.ephemeral.size_gb > 0 else None
    series = sku.vm_size.series if sku.vm_size is not None else ""
    if not sku.flag("EphemeralOSDiskSupported") or series == "Dlds_v5":
        return None
    if rule is EphemeralRule.FIRST_UNLESS_LABELLED:
        return str(sku.ephemeral.size_gb if sku.ephemeral is not None else 0)
    return repr(sku.largest_local_disk_gb).removesuffix(".0")


def ephemeral_disk(sku: Sku, rule: EphemeralRule) -> Ephemeral | None:
    """The ephemeral OS disk that a launch assumes (GB); its placement is empty where Azure chooses. None without one.

    Source: kaz ``pkg/providers/imagefamily/resolver.go`` (useEphemeralDisk), until 1.5.1 from the label's value.
    """
    if rule is EphemeralRule.FIRST_OF_NVME_CACHE_RESOURCE:
        return sku.ephemeral
    if rule is EphemeralRule.FIRST_UNLESS_LABELLED:
        return sku.local_disk
    label = ephemeral_label(sku, rule)
    return None if label is None else Ephemeral(int(float(label)), "")


def of_sku(sku: Sku, release: ProviderRelease) -> Values:
    """The values that depend on the SKU record alone. Raises ValueError for a size name that does not parse."""
    size = sku.vm_size
    if size is None:
        raise ValueError(f"size {sku.size!r} does not parse")
    cpu = _only(str(sku.vcpus))
    memory = _only(str(to_int64((sku.memory_gib or 0.0) * 1024)))
    gpu = gpu_sizes(release.gpu_registry).get(gpu_key(sku.name))
    ephemeral = ephemeral_label(sku, release.ephemeral_rule)
    version = size.version_label
    return {
        INSTANCE_TYPE: _only(sku.name),
        ARCH: _only(architecture(sku)),
        OS: _LINUX,
        keys.SKU_CPU: cpu,
        keys.AKS_CPU: cpu,
        keys.SKU_MEMORY: memory,
        keys.AKS_MEMORY: memory,
        keys.SKU_GPU_COUNT: _only(str(sku.gpus or 0) if gpu is not None else "0"),
        keys.SKU_GPU_MANUFACTURER: _only(gpu.manufacturer) if gpu is not None else _NONE,
        keys.SKU_GPU_NAME: _only(size.accelerator) if gpu is not None and size.accelerator is not None else _NONE,
        keys.AKS_MODE: _MODES,
        keys.AKS_SCALE_SET_PRIORITY: _BOTH_PRIORITIES,
        keys.AKS_PRIORITY: _BOTH_PRIORITIES,
        keys.SKU_NAME: _only(sku.name),
        keys.SKU_FAMILY: _only(size.family),
        keys.SKU_SERIES: _only(size.series),
        keys.SKU_VERSION: _only(version),
        keys.SKU_EPHEMERAL_OS_SIZE: _only(ephemeral) if ephemeral is not None else _NONE,
        keys.SKU_PREMIUM_STORAGE: _flag(sku.premium_io, release),
        keys.SKU_ACCELERATED_NETWORKING: _flag(sku.accelerated_networking, release),
        keys.SKU_HYPERV: frozenset(sku.hyperv),
    }


def of_region(region: str, options: ProviderOptions) -> Values:
    """The values that all sizes of a controller share."""
    return {REGION: frozenset({region}), keys.AKS_CLUSTER: frozenset({cluster_label(options.node_resource_group)})}


def of_nodeclass(settings: NodeClassSettings, release: ProviderRelease) -> Values:
    """The values that depend on the AKSNodeClass."""
    return {
        keys.AKS_OS_SKU: frozenset({os_sku(settings.image_family, release.image_families)}),
        keys.AKS_FIPS: frozenset({"true"}) if settings.fips else _NONE,
    }


def of_offerings(offerings: Iterable[Offering]) -> Values:
    """The values of all available offerings together."""
    values_by_key: dict[str, set[str]] = {key: set() for key in _OFFERING_KEYS}
    for offering in offerings:
        if offering.available:
            for key, values in values_by_key.items():
                values |= offering.requirements.get(key).values
    return {key: frozenset(values) for key, values in values_by_key.items()}


def requirements_of(parts: Iterable[Values], release: ProviderRelease) -> Iterator[Requirement]:
    """The values as requirements, for the keys that the release computes."""
    wanted = release.computed_keys
    return (Requirement(key, False, values) for part in parts for key, values in part.items() if key in wanted)


def _flag(value: bool, release: ProviderRelease) -> frozenset[str]:
    if not value and release.false_capabilities_absent:
        return _NONE
    return _only("true" if value else "false")
