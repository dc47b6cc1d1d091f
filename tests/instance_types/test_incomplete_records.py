"""Sizes of which Azure says little, and how many pods a node takes where its node class says nothing.

Sources: kaz pkg/cache/unavailableofferings.go (an unknown number of CPUs counts as 0), pkg/utils/utils.go (GetMaxPods),
pkg/providers/instancetype (FindMaxEphemeralSizeGBAndPlacement).
"""

from __future__ import annotations

import pytest

from harness.karpenter.instancetypes import Sku, UnavailableOfferings
from harness.karpenter.instancetypes.computed import cluster_label, ephemeral_label, of_sku
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings, max_pods
from harness.karpenter.instancetypes.resources import capacity
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.labels import azure as keys
from harness.karpenter.releases import Defaults, EphemeralRule, ProviderOptions, provider

GRAMMAR = next(iter(GRAMMARS.values()))
PLACE = ("southcentralus-1", "on-demand")


def sku(**capabilities: str) -> Sku:
    told = [{"name": name, "value": value} for name, value in capabilities.items()]
    record = {"name": "Standard_D2s_v3", "size": "D2s_v3", "family": "standardDSv3Family", "capabilities": told}
    return Sku(record, "southcentralus", GRAMMAR)


NVME = {"SupportedEphemeralOSDiskPlacements": "NvmeDisk"}


@pytest.mark.parametrize(
    ("told", "disk"),
    [
        ({"MaxResourceVolumeMB": "0"}, None),
        ({"MaxResourceVolumeMB": "1"}, Ephemeral(0, "ResourceDisk")),
        ({"MaxResourceVolumeMB": "1", "CachedDiskBytes": "0"}, Ephemeral(0, "ResourceDisk")),
        ({"MaxResourceVolumeMB": "1", "CachedDiskBytes": "1"}, Ephemeral(0, "CacheDisk")),
        ({"CachedDiskBytes": "1", "NvmeDiskSizeInMiB": "0"} | NVME, Ephemeral(0, "CacheDisk")),
        ({"CachedDiskBytes": "1", "NvmeDiskSizeInMiB": "1"}, Ephemeral(0, "CacheDisk")),
        ({"CachedDiskBytes": "1", "NvmeDiskSizeInMiB": "1"} | NVME, Ephemeral(0, "NvmeDisk")),
    ],
)
def test_any_local_disk_is_a_place_for_the_system(told: dict[str, str], disk: Ephemeral | None) -> None:
    assert sku(**told).local_disk == disk


@pytest.mark.parametrize(("cached", "label"), [("999999999", None), ("1000000000", "1")])
def test_a_disk_of_less_than_a_gigabyte_is_no_label(cached: str, label: str | None) -> None:
    """Kaz instancetype.go (setRequirementsEphemeralOSDiskSupported)."""
    small = sku(EphemeralOSDiskSupported="True", CachedDiskBytes=cached)
    assert ephemeral_label(small, EphemeralRule.FIRST_OF_NVME_CACHE_RESOURCE) == label


def test_zones_are_those_of_the_location_itself() -> None:
    """Skewer sku.go (AvailabilityZones, HasZonalCapability)."""
    ultra = {"name": ["1"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}
    plain = {"name": ["2"], "capabilities": [{"name": "UltraSSDAvailable", "value": "False"}]}
    unsaid = {"name": ["3"], "capabilities": [{"name": "UltraSSDAvailable", "value": None}]}
    places = [
        {"location": "South Central US", "zones": ["2", "1", "3"], "zoneDetails": [ultra, plain, unsaid]},
        {"location": "eastus", "zones": ["4"]},
        {"zones": ["5"]},
    ]
    found = Sku({**sku().record, "locationInfo": places}, "southcentralus", GRAMMAR)
    assert (found.zones, [zone for zone in found.zones if found.ultra_ssd(zone)]) == (("1", "2", "3"), ["1"])


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        (EphemeralRule.LARGEST_OF_CACHE_AND_RESOURCE, "0"),
        (EphemeralRule.FIRST_UNLESS_LABELLED, "0"),
        (EphemeralRule.FIRST_OF_NVME_CACHE_RESOURCE, None),
    ],
)
def test_a_size_that_promises_an_ephemeral_disk_and_has_none(rule: EphemeralRule, label: str | None) -> None:
    assert ephemeral_label(sku(EphemeralOSDiskSupported="True"), rule) == label


def test_a_size_of_unknown_cpus_is_smaller_than_any_that_is_blocked() -> None:
    marks = UnavailableOfferings(family_with_size=True)
    assert marks.mark("no quota", sku(vCPUs="1"), *PLACE, now=0) == 1
    unknown = Sku({**sku().record, "name": "Standard_D4s_v3"}, "southcentralus", GRAMMAR)
    assert marks.why(unknown, *PLACE) is None
    assert marks.mark("no quota", unknown, *PLACE, now=0) == 0
    assert marks.why(unknown, *PLACE) is not None


def test_a_size_of_the_gpu_list_that_tells_no_number_has_none() -> None:
    """Kaz instancetype.go (gpuTotalCount, gpuNvidiaCount)."""
    release = provider("1.14.0")
    record = {**sku().record, "name": "Standard_NC16as_T4_v3", "size": "NC16as_T4_v3"}
    unknown = Sku(record, "southcentralus", GRAMMAR)
    told = of_sku(unknown, release)
    assert (told[keys.SKU_GPU_COUNT], told[keys.SKU_GPU_NAME]) == ({"0"}, {"T4"})
    settings = NodeClassSettings.of({}, ProviderOptions(), release)
    assert str(capacity(unknown, settings, release, 0.0)["nvidia.com/gpu"]) == "0"


@pytest.mark.parametrize(
    ("plugin", "mode", "pods"),
    [("azure", "", 30), ("azure", "overlay", 250), ("none", "", 250), ("kubenet", "", 110), ("azure", "other", 110)],
)
def test_pods_by_network(plugin: str, mode: str, pods: int) -> None:
    options = ProviderOptions.of(Defaults(), network_plugin=plugin, network_plugin_mode=mode)
    assert max_pods({}, options) == pods
    assert max_pods({"maxPods": 42}, options) == 42


@pytest.mark.parametrize(
    ("group", "label"),
    [
        ("MC_(a)_b", "MC_-a-_b"),
        ("MC_(a)", "MC_-a-z"),
        (f"{'x' * 60}-", f"{'x' * 60}-z"),
        (f"{'x' * 61}.", f"{'x' * 61}.z"),
        (f"{'x' * 62}_", f"{'x' * 62}z"),
        (f"{'x' * 62}_y", f"{'x' * 62}z"),
        (f"é{'x' * 60}_", f"é{'x' * 60}z"),
        ("x" * 64, "x" * 63),
    ],
)
def test_the_resource_group_as_a_label_has_63_bytes_at_most_and_ends_with_a_letter(group: str, label: str) -> None:
    """Kaz pkg/utils/labels.go (NormalizeClusterResourceGroupNameForLabel)."""
    assert cluster_label(group) == label
