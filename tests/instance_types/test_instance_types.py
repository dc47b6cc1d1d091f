"""Instance types from recorded SKU records; expected values are those of the provider's own tests and of its real code."""

import copy
from typing import Any

import pytest

from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes import (
    FILTERS,
    FamilyUsage,
    NoInstanceTypes,
    Prices,
    Sku,
    SkuBook,
    UnavailableOfferings,
    Usages,
    build,
)
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.labels import azure as keys
from harness.karpenter.releases import Defaults, ProviderOptions, provider
from harness.kube.api.labels import ZONE
from harness.kube.api.resources import render

LATEST = provider("1.14.0")
OPTIONS = ProviderOptions.of(Defaults(), node_resource_group="test-resourceGroup")
NODECLASS: dict[str, Any] = {"spec": {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 128}}


def listed(locations: dict[str, Any], location: str = "southcentralus", release: str = "1.14.0", **changes: Any) -> Any:
    content = locations[location]
    given = {
        "release": provider(release),
        "options": OPTIONS,
        "nodeclass": NODECLASS,
        "region": location,
        "prices": Prices(content["prices"], content["prices"]),
        **changes,
    }
    skus = given.pop("skus", content["skus"])
    return build(skus, **given)


def found(locations: dict[str, Any], name: str, **changes: Any) -> InstanceType:
    item = listed(locations, **changes).get(name)
    assert isinstance(item, InstanceType), item
    return item


def values(item: InstanceType, key: str) -> list[str]:
    return sorted(item.requirements.get(key).values)


def test_a_zonal_size(locations: dict[str, Any]) -> None:
    item = found(locations, "Standard_D2s_v3")
    assert len(item.requirements) == 29
    assert values(item, keys.SKU_SERIES) == ["Ds_v3"]
    assert values(item, keys.SKU_MEMORY) == values(item, keys.AKS_MEMORY) == ["8192"]
    assert values(item, keys.AKS_CLUSTER) == ["test-resourceGroup"]
    assert values(item, keys.PLACEMENT_SCOPE) == ["regional", "zonal"]
    assert values(item, keys.SKU_EPHEMERAL_OS_SIZE) == ["53"]
    assert values(item, ZONE) == ["0", "southcentralus-1", "southcentralus-2", "southcentralus-3"]
    assert item.requirements.get(keys.AKS_FIPS).operator == "DoesNotExist"
    assert render(item.capacity) == {
        "cpu": "2",
        "memory": "7945689497",
        "ephemeral-storage": "128G",
        "pods": "250",
        "nvidia.com/gpu": "0",
        "amd.com/gpu": "0",
    }
    assert render(item.overhead.kube_reserved) == {"cpu": "100m", "memory": "1843Mi"}
    assert render(item.allocatable) | {"amd.com/gpu": "0"} == {
        "cpu": "1900m",
        "memory": "5226731929",
        "ephemeral-storage": "128G",
        "pods": "250",
        "nvidia.com/gpu": "0",
        "amd.com/gpu": "0",
    }
    assert len(item.offerings) == 8


def test_a_regional_size(locations: dict[str, Any]) -> None:
    item = found(locations, "Standard_D2s_v3", location="westcentralus")
    assert values(item, ZONE) == ["0"]
    assert {(offering.zone, offering.capacity_type) for offering in item.offerings} == {
        ("0", "on-demand"),
        ("0", "spot"),
    }
    older = found(locations, "Standard_D2s_v3", location="westcentralus", release="1.7.2")
    assert values(older, ZONE) == [""]


def test_a_gpu_size(locations: dict[str, Any]) -> None:
    item = found(locations, "Standard_NC16as_T4_v3")
    assert values(item, keys.SKU_GPU_MANUFACTURER) == ["nvidia"]
    assert values(item, keys.SKU_GPU_NAME) == ["T4"]
    assert values(item, keys.SKU_GPU_COUNT) == ["1"]
    assert render(item.capacity)["nvidia.com/gpu"] == "1"


def test_an_arm_size(locations: dict[str, Any]) -> None:
    item = found(locations, "Standard_D16plds_v5")
    assert values(item, "kubernetes.io/arch") == ["arm64"]
    dropped = listed(locations, nodeclass={"spec": {**NODECLASS["spec"], "artifactStreaming": {"enabled": True}}})
    assert dropped.get("Standard_D16plds_v5").filter == "artifact-streaming"


@pytest.mark.parametrize(
    ("name", "filter_name", "details"),
    [
        ("Standard_A0", "restricted-size", {}),
        ("Standard_B1s", "restricted-size", {}),
        ("Standard_DC8s_v3", "confidential", {"size": "DC8s_v3"}),
        ("Standard_M8-2ms", "constrained-cpus", {"constrained_cpus": "2"}),
    ],
)
def test_dropped_sizes_name_their_filter(
    locations: dict[str, Any], name: str, filter_name: str, details: dict[str, Any]
) -> None:
    assert listed(locations).get(name) == DroppedSize(name, filter_name, details)


def changed(locations: dict[str, Any], **capabilities: str | None) -> dict[str, Any]:
    record: dict[str, Any] = copy.deepcopy(
        next(sku for sku in locations["southcentralus"]["skus"] if sku["name"] == "Standard_D4s_v3")
    )
    kept = [item for item in record["capabilities"] if item["name"] not in capabilities]
    added = [{"name": name, "value": value} for name, value in capabilities.items() if value is not None]
    record["capabilities"] = kept + added
    return record


@pytest.mark.parametrize(
    ("capabilities", "fields", "nodeclass", "release", "filter_name"),
    [
        ({}, {"resourceType": "disks"}, {}, "1.14.0", "not-a-virtual-machine"),
        ({}, {"name": "Standard_D4s_v99"}, {}, "1.13.1", "unknown-size"),
        ({}, {"size": "D4s_v33"}, {}, "1.14.0", "unparsable-size"),
        (
            {},
            {"restrictions": [{"type": "Location", "values": ["South Central US"]}]},
            {},
            "1.14.0",
            "location-restriction",
        ),
        ({"vCPUs": "1"}, {}, {}, "1.14.0", "too-few-vcpus"),
        ({"vCPUs": None}, {}, {}, "1.14.0", "too-few-vcpus"),
        ({"MemoryGB": "3.4"}, {}, {}, "1.14.0", "too-little-memory"),
        ({"GPUs": "1"}, {}, {}, "1.14.0", "unsupported-gpu"),
        ({"DiskControllerTypes": "NVMe"}, {}, {}, "1.10.2", "no-image-for-disk-controller"),
        ({"CpuArchitectureType": None}, {}, {}, "1.14.0", "no-architecture"),
        (
            {"EncryptionAtHostSupported": "False"},
            {},
            {"security": {"encryptionAtHost": True}},
            "1.14.0",
            "encryption-at-host",
        ),
        (
            {"GPUs": "1"},
            {"name": "Standard_NC16as_T4_v3", "size": "NC16as_T4_v3"},
            {"imageFamily": "Windows"},
            "1.14.0",
            "gpu-image-family",
        ),
        (
            {"GPUs": "8"},
            {"name": "Standard_ND96isr_MI300X_v5", "size": "ND96isr_MI300X_v5"},
            {},
            "1.14.0",
            "gpu-driver-mode",
        ),
    ],
)
def test_filters(
    locations: dict[str, Any],
    capabilities: dict[str, str | None],
    fields: dict[str, Any],
    nodeclass: dict[str, Any],
    release: str,
    filter_name: str,
) -> None:
    record = changed(locations, **capabilities) | fields
    other = next(sku for sku in locations["southcentralus"]["skus"] if sku["name"] == "Standard_D2s_v3")
    result = listed(
        locations, skus=[record, other], release=release, nodeclass={"spec": {**NODECLASS["spec"], **nodeclass}}
    )
    assert result.get(record["name"]).filter == filter_name
    assert filter_name in FILTERS


def test_local_dns_needs_four_vcpus(locations: dict[str, Any]) -> None:
    enabled = {**NODECLASS, "status": {"localDNSState": "Enabled"}}
    result = listed(locations, nodeclass=enabled)
    assert result.get("Standard_D2s_v3").filter == "local-dns"
    assert isinstance(result.get("Standard_D4s_v3"), InstanceType)
    preferred = {
        "spec": {**NODECLASS["spec"], "localDNS": {"mode": "Preferred"}},
        "status": {"kubernetesVersion": "1.35.0"},
    }
    assert listed(locations, nodeclass=preferred, release="1.10.2").get("Standard_D2s_v3").filter == "local-dns"


def test_no_usable_size(locations: dict[str, Any]) -> None:
    with pytest.raises(NoInstanceTypes, match="no instance types found"):
        listed(locations, skus=[])
    assert listed(locations, skus=[], release="1.7.2").types == ()


def availability(item: InstanceType) -> dict[tuple[str, str], bool]:
    return {(offering.zone, offering.capacity_type): offering.available for offering in item.offerings}


def sku(locations: dict[str, Any], name: str) -> Sku:
    record = next(sku for sku in locations["southcentralus"]["skus"] if sku["name"] == name)
    return Sku(record, "southcentralus", GRAMMARS["0.0.24"])


def test_marks_block_an_offering_and_larger_sizes_of_its_family(locations: dict[str, Any]) -> None:
    marks = UnavailableOfferings()
    marks.mark("AllocationFailure", sku(locations, "Standard_D2s_v3"), "southcentralus-1", "spot", now=0.0, ttl=3600.0)
    small, large = (found(locations, name, unavailable=marks) for name in ("Standard_D2s_v3", "Standard_D4s_v3"))
    for item in (small, large):
        assert not availability(item)["southcentralus-1", "spot"]
        assert availability(item)["southcentralus-2", "spot"]
    marks.expire(3599.0)
    assert marks.why(sku(locations, "Standard_D4s_v3"), "southcentralus-1", "spot") is not None
    marks.expire(3600.0)
    assert not marks


def test_a_mark_of_the_larger_size_leaves_the_smaller_one(locations: dict[str, Any]) -> None:
    marks = UnavailableOfferings()
    marks.mark("SKUNotAvailable", sku(locations, "Standard_D4s_v3"), "0", "on-demand", now=0.0)
    assert marks.why(sku(locations, "Standard_D2s_v3"), "0", "on-demand") is None
    marks.mark_family("x", sku(locations, "Standard_D4s_v3"), "0", "on-demand", now=0.0, ttl=10.0)
    assert marks.why(sku(locations, "Standard_D2s_v3"), "0", "on-demand") is not None
    before = marks.sequence
    marks.mark_spot("SubscriptionQuotaReached", now=0.0)
    assert marks.sequence == before + 1
    assert marks.why(sku(locations, "Standard_D2s_v3"), "southcentralus-2", "spot") is not None


def test_what_ends_is_told_by_the_names_that_it_was_about(locations: dict[str, Any]) -> None:
    marks = UnavailableOfferings()
    marks.mark("x", sku(locations, "Standard_D2s_v3"), "0", "on-demand", now=0.0, ttl=10.0)
    marks.mark_spot("x", now=0.0, ttl=20.0)
    before = marks.sequence
    assert marks.changed_since(before) == frozenset()
    marks.expire(10.0)
    assert marks.changed_since(before) == {"Standard_D2s_v3", "standarddsv3family"}
    before = marks.sequence
    marks.expire(20.0)
    assert marks.changed_since(before) is None


def test_older_releases_mark_the_size_alone(locations: dict[str, Any]) -> None:
    marks = UnavailableOfferings(family_with_size=False)
    marks.mark("x", sku(locations, "Standard_D2s_v3"), "southcentralus-1", "spot", now=0.0)
    assert marks.why(sku(locations, "Standard_D4s_v3"), "southcentralus-1", "spot") is None


def test_quota_blocks_on_demand_only(locations: dict[str, Any]) -> None:
    usages = Usages({"standardDSv3Family": FamilyUsage(97, 100)})
    assert availability(found(locations, "Standard_D2s_v3", usages=usages))["0", "on-demand"]
    blocked = availability(found(locations, "Standard_D4s_v3", usages=usages))
    assert not blocked["0", "on-demand"]
    assert blocked["0", "spot"]
    assert availability(found(locations, "Standard_D4s_v3", usages=usages, release="1.13.1"))["0", "on-demand"]


def test_usages_of_arm() -> None:
    usages = Usages.from_arm(
        [{"name": {"value": "cores"}, "currentValue": 1, "limit": 2}, {"name": {"value": "x"}, "limit": 2}, {}]
    )
    assert dict(usages.by_name) == {"cores": FamilyUsage(1, 2)}


@pytest.mark.parametrize(
    ("release", "price", "available"),
    [("1.14.0", 999.0, True), ("1.13.1", 999.0, True), ("1.12.2", 0.0, False), ("1.4.0", 0.0, False)],
)
def test_a_size_without_price(locations: dict[str, Any], release: str, price: float, available: bool) -> None:
    item = found(locations, "Standard_D2_v5", release=release, prices=Prices())
    assert {
        (offering.price, offering.available) for offering in item.offerings if offering.capacity_type == "on-demand"
    } == {(price, available)}


def test_nothing_available_leaves_no_zone(locations: dict[str, Any]) -> None:
    item = found(locations, "Standard_D2_v5", release="1.12.2", prices=Prices())
    assert item.requirements.get(ZONE).operator == "DoesNotExist"


def test_records_are_read_once(locations: dict[str, Any]) -> None:
    book = SkuBook()
    skus = locations["southcentralus"]["skus"]
    assert book.region(skus, LATEST, "southcentralus") is book.region(skus, LATEST, "southcentralus")
    assert book.region(skus, LATEST, "southcentralus") is not book.region(skus, provider("1.13.1"), "southcentralus")


def test_lists_of_one_book_are_those_of_books_of_their_own(locations: dict[str, Any]) -> None:
    """What a NodeClass leaves out is kept for it, and for no other one."""
    book, spec = SkuBook(), NODECLASS["spec"]
    nodeclasses = [
        NODECLASS,
        {**NODECLASS, "status": {"localDNSState": "Enabled"}},
        {"spec": {**spec, "artifactStreaming": {"enabled": True}}},
        {"spec": {**spec, "security": {"encryptionAtHost": True}, "osDiskSizeGB": 256}},
    ]
    dropped = [listed(locations, nodeclass=each, book=book).dropped for each in (*nodeclasses, *nodeclasses)]
    assert dropped == [listed(locations, nodeclass=each).dropped for each in (*nodeclasses, *nodeclasses)]
    assert len(set(map(len, dropped))) > 1


def test_an_unknown_name_is_neither(locations: dict[str, Any]) -> None:
    assert listed(locations).get("Standard_Nope") is None


@pytest.mark.parametrize("release", ["1.14.0", "1.13.1"])
def test_a_region_has_no_size_that_no_record_is_about(locations: dict[str, Any], release: str) -> None:
    region = SkuBook().region(locations["southcentralus"]["skus"], provider(release), "southcentralus")
    assert (region.find("Standard_Nope"), region.find("Standard_D2s_v3")) == (None, region.skus["Standard_D2s_v3"])


@pytest.mark.parametrize(
    ("release", "mode", "left_out"),
    [("1.14.0", "Driver", True), ("1.14.0", None, True), ("1.14.0", "None", False), ("1.12.2", "Driver", True)],
)
def test_a_size_whose_gpus_get_no_driver_is_left_out_where_one_is_asked_for(
    locations: dict[str, Any], release: str, mode: str | None, left_out: bool
) -> None:
    """Kaz instancetypes.go (isInstanceTypeSupportedByGPUDriverMode)."""
    record = {**changed(locations, GPUs="8"), "name": "Standard_ND96isr_MI300X_v5", "size": "ND96isr_MI300X_v5"}
    spec = {**NODECLASS["spec"], **({"gpu": {"mode": mode}} if mode else {})}
    item = listed(locations, skus=[record], release=release, nodeclass={"spec": spec}).get(record["name"])
    assert isinstance(item, DroppedSize) is left_out


@pytest.mark.parametrize(
    ("told", "dropped"),
    [
        ({"MemoryGB": "3.5", "vCPUs": "2"}, None),
        ({"MemoryGB": "3.49"}, "too-little-memory"),
        ({"MemoryGB": "much"}, "too-little-memory"),
        ({"MemoryGB": None}, "too-little-memory"),
    ],
)
def test_the_smallest_size_has_two_cpus_and_three_and_a_half_gib(
    locations: dict[str, Any], told: dict[str, str | None], dropped: str | None
) -> None:
    """Kaz instancetypes.go (hasMinimumCPU, hasMinimumMemory)."""
    kept = next(sku for sku in locations["southcentralus"]["skus"] if sku["name"] == "Standard_D2s_v3")
    item = listed(locations, skus=[changed(locations, **told), kept]).get("Standard_D4s_v3")
    assert (item.filter if isinstance(item, DroppedSize) else None) == dropped
