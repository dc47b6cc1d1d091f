"""Values of labels that Azure, AKS, Kubernetes or Karpenter chose from a list: sizes, regions, zones, words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from harness.karpenter.instancetypes.vmsize import GRAMMARS, VmSize
from harness.karpenter.labels import azure, core
from harness.karpenter.releases import KNOWN_RELEASES, provider
from harness.karpenter.releases.name_sets import KNOWN_VALUES
from harness.karpenter.releases.sizes import known_skus
from harness.kube.api import labels as kube
from harness.world import default_caches

__all__ = ["PUBLIC_KEYS", "is_public"]

_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,3})?")
_ZONE = re.compile(r"(?P<region>[a-z0-9]+)-[0-9]")
_WINDOWS_BUILD = re.compile(r"10\.0\.[0-9]{4,5}")

_SIZES = frozenset({azure.SKU_NAME, kube.INSTANCE_TYPE, kube.BETA_INSTANCE_TYPE})
_REGIONS = frozenset({kube.REGION, kube.BETA_REGION})
_NUMBERS = frozenset(
    {
        azure.SKU_CPU,
        azure.SKU_MEMORY,
        azure.SKU_GPU_COUNT,
        azure.SKU_EPHEMERAL_OS_SIZE,
        azure.SKU_VERSION,
        azure.SKU_HYPERV,
        azure.AKS_CPU,
        azure.AKS_MEMORY,
    }
)
_FLAGS = frozenset(
    {
        azure.SKU_ULTRA_SSD,
        azure.AKS_CNI_OVERLAY,
        azure.AKS_STATELESS_CNI,
        azure.AKS_ARTIFACT_STREAMING,
        core.INITIALIZED,
        core.REGISTERED,
        core.DO_NOT_SYNC_TAINTS,
        core.DO_NOT_DISRUPT,
    }
)
_OS_SKUS = frozenset(
    {"Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux2", "AzureLinux3", "CBLMariner", "Mariner"}
    | {"Windows2019", "Windows2022", "Windows2025", "Flatcar", "AzureContainerLinux"}
)
_WORDS: Mapping[str, frozenset[str]] = {
    **KNOWN_VALUES,
    core.CAPACITY_TYPE: frozenset({core.ON_DEMAND, core.SPOT, core.RESERVED}),
    kube.OS: frozenset({"linux", "windows"}),
    kube.BETA_OS: frozenset({"linux", "windows"}),
    kube.ARCH: frozenset({"amd64", "arm64"}),
    kube.BETA_ARCH: frozenset({"amd64", "arm64"}),
    azure.AKS_OS_SKU: _OS_SKUS,
    azure.AKS_OS_SKU_REQUESTED: _OS_SKUS,
    azure.AKS_OS_SKU_EFFECTIVE: _OS_SKUS,
    azure.AKS_ROLE: frozenset({"agent"}),
    azure.AKS_POD_NETWORK_TYPE: frozenset({"overlay"}),
    azure.AKS_EBPF_DATAPLANE: frozenset({"cilium"}),
    azure.AKS_LOCAL_DNS_STATE: frozenset({"enabled", "disabled"}),
}
"""The possible values of these labels (harness.karpenter.launch.labels.base; AKS's OS SKUs)."""

_PARTS = frozenset({azure.SKU_FAMILY, azure.SKU_SERIES, azure.SKU_GPU_NAME})

PUBLIC_KEYS = _SIZES | _REGIONS | azure.ZONE_KEYS | _NUMBERS | _FLAGS | _WORDS.keys() | _PARTS | {kube.WINDOWS_BUILD}
"""Labels that have such values."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Azure's offer: names of sizes, the values read from them by label, and regions."""

    sizes: frozenset[str]
    parts: Mapping[str, frozenset[str]]
    regions: frozenset[str]


def is_public(key: str, value: str) -> bool:
    """Return whether a value under a label does not identify its cluster, because many have it."""
    if key in _NUMBERS:
        return _NUMBER.fullmatch(value) is not None
    if key == kube.WINDOWS_BUILD:
        return _WINDOWS_BUILD.fullmatch(value) is not None
    if key in _WORDS:
        return value in _WORDS[key]
    if key in _SIZES:
        return value in _names().sizes
    if key in _PARTS:
        return value in _names().parts[key]
    if key in _REGIONS:
        return value in _names().regions
    zone = _ZONE.fullmatch(value) if key in azure.ZONE_KEYS else None
    return zone is not None and zone["region"] in _names().regions


@cache
def _names() -> _Names:
    catalogue = default_caches().catalogue
    lists = {provider(name).known_skus for name in KNOWN_RELEASES}
    lists_of_releases = [known_skus(name) for name in lists]
    sizes = frozenset().union(*(catalogue.names(region) for region in catalogue.regions), *lists_of_releases)
    parsed = list(_parsed(sizes))
    parts = {
        azure.SKU_FAMILY: frozenset(size.family for size in parsed),
        azure.SKU_SERIES: frozenset(size.series for size in parsed),
        azure.SKU_GPU_NAME: frozenset(size.accelerator for size in parsed if size.accelerator),
    }
    return _Names(sizes, parts, frozenset(catalogue.regions))


def _parsed(sizes: frozenset[str]) -> Iterator[VmSize]:
    """Yield the parts of every size, as each version of the grammar reads it: releases name them differently."""
    for grammar in dict.fromkeys(GRAMMARS.values()):
        for size in sizes:
            parsed = grammar.parse(size.removeprefix("Standard_"))
            if parsed is not None:
                yield parsed
