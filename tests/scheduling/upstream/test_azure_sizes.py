"""Which of Azure's sizes can be bought, and which is. Source: kaz providers/{instancetype/suite_test,allocationstrategy}, cache."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

import pytest

from harness.karpenter.cloudprovider import InstanceType, Offering, Overhead
from harness.karpenter.labels.azure import (
    SKU_ACCELERATED_NETWORKING,
    SKU_EPHEMERAL_OS_SIZE,
    SKU_NAME,
    SKU_PREMIUM_STORAGE,
    SKU_ULTRA_SSD,
)
from harness.karpenter.launch.choice import choose
from harness.karpenter.releases import provider
from harness.karpenter.requirements import Requirements
from tests.scheduling.upstream.asking import RELEASE, Asker, skus
from tests.scheduling.upstream.cloud import ARCH, CAPACITY, OS, TYPE, ZONE
from tests.scheduling.upstream.objects import need

Json = dict[str, Any]

FAMILY = "standardDSv3Family"
OF_FAMILY = ["Standard_D2s_v3", "Standard_D4s_v3", "Standard_D64s_v3"]


def listed(ask: Asker, *names: str, **request: Any) -> dict[str, Json]:
    answer = ask({"op": "instance_types", "skus": list(names), **request})
    return {item["name"]: item for item in answer}


def bought(item: Json, kind: str) -> dict[str, bool]:
    """Whether it is available, by zone."""
    found = {}
    for way in item["offerings"]:
        labels = {each["key"]: each["values"][0] for each in way["requirements"]}
        if labels[CAPACITY] == kind:
            found[labels[ZONE]] = way["available"]
    return found


def used(current: int) -> Json:
    return {"usages": [{"family": FAMILY, "current": current, "limit": 100}]}


@pytest.mark.parametrize(
    ("usages", "left"),
    [
        pytest.param(used(100), [], id="should exclude on-demand offering when family quota is exhausted"),
        pytest.param(used(96), OF_FAMILY[:2], id="should block large sizes but allow small sizes in the same family"),
        pytest.param({}, OF_FAMILY, id="should fail open when quota data is unavailable"),
    ],
)
def test_quota(ask: Asker, usages: Json, left: list[str]) -> None:
    """should not affect spot offerings when on-demand quota is exhausted"""
    items = listed(ask, *OF_FAMILY, **usages)
    assert [name for name, item in items.items() if all(bought(item, "on-demand").values())] == left
    assert all(not any(bought(item, "on-demand").values()) for name, item in items.items() if name not in left)
    assert all(all(bought(item, "spot").values()) for item in items.values())


def test_a_mark_concerns_larger_sizes_of_the_family(ask: Asker) -> None:
    """TestUnavailableOfferingsVMFamilyCoreLimitAllowsFewerCores"""
    mark = {"sku": "Standard_D4s_v3", "zone": "southcentralus-1", "capacity_type": "on-demand"}
    items = listed(ask, *OF_FAMILY, unavailable=[mark])
    found = {name: bought(item, "on-demand")["southcentralus-1"] for name, item in items.items()}
    assert found == {"Standard_D2s_v3": True, "Standard_D4s_v3": False, "Standard_D64s_v3": False}
    assert all(bought(item, "on-demand")["southcentralus-2"] for item in items.values())


def test_a_size_that_nobody_knows_a_price_of(ask: Asker) -> None:
    """should have available offerings with MissingPrice for a SKU not in known_skus.yaml"""
    records = skus("southcentralus")
    record = copy.deepcopy(next(each for each in records if each["name"] == "Standard_D2s_v3"))
    unknown = {**record, "name": "Standard_FakeSKU_v6", "size": "D2ts_v6", "family": "standardDtsv6Family"}
    item = listed(ask, unknown["name"], sku_json=[*records, unknown])[unknown["name"]]
    assert item["offerings"]
    assert {(way["price"], way["available"]) for way in item["offerings"]} == {(999, True)}


@pytest.mark.parametrize("count", [150, 100])
def test_max_pods(ask: Asker, count: int) -> None:
    """should set pods equal to MaxPods in the AKSNodeClass when specified"""
    items = listed(ask, *OF_FAMILY, nodeclass={"spec": {"maxPods": count}})
    assert [item["capacity"]["pods"] for item in items.values()] == [str(count)] * 3


def test_every_size_has_its_requirements(ask: Asker) -> None:
    """should have all the requirements on every sku; should not include SKUs with constrained CPUs, but include unconstrained ones"""
    wanted = {
        ARCH,
        OS,
        TYPE,
        SKU_NAME,
        SKU_PREMIUM_STORAGE,
        SKU_ACCELERATED_NETWORKING,
        SKU_ULTRA_SSD,
        SKU_EPHEMERAL_OS_SIZE,
    }
    items = listed(ask)
    assert all(wanted <= {each["key"] for each in item["requirements"]} for item in items.values())
    names = {record["name"] for record in skus("southcentralus")}
    assert {"Standard_M8-2ms", "Standard_D2_v2"} <= names
    assert "Standard_M8-2ms" not in items
    assert "Standard_D2_v2" in items


VOCABULARY = provider(RELEASE).vocabulary
BOTH = need(CAPACITY, "In", "on-demand", "spot")


def size(name: str, *ways: tuple[float, str, str]) -> InstanceType:
    """A size that can be bought for a price, as a capacity type, in a zone."""
    offerings = tuple(
        Offering(Requirements.from_labels({CAPACITY: kind, ZONE: zone}, vocabulary=VOCABULARY), cost, True)
        for cost, kind, zone in ways
    )
    return InstanceType(name, Requirements((), vocabulary=VOCABULARY), {}, Overhead(), offerings)


OD, SPOT = "on-demand", "spot"
CHOICES: list[tuple[str, Sequence[InstanceType], list[Json], tuple[str, str, str]]] = [
    (
        "TestFilterInstanceOfferings_OrdersByPrice",
        [
            size("Standard_F16s_v2", (0.5, OD, "westus-1")),
            size("Standard_D2s_v3", (0.05, SPOT, "westus-1")),  # not wanted
            size("Standard_D64s_v3", (0.1, OD, "westus-1")),
            size("Standard_D4s_v3", (0.1, OD, "westus-1")),  # as cheap as the one before, and first by name
        ],
        [need(CAPACITY, "In", OD)],
        ("Standard_D4s_v3", OD, "westus-1"),
    ),
    (
        "TestFilterInstanceOfferings_SpotOfferingsBeforeOnDemandAtSamePrice",
        [size("Standard_D2s_v3", (0.1, OD, "westus-1")), size("Standard_F16s_v2", (0.1, SPOT, "westus-1"))],
        [BOTH],
        ("Standard_F16s_v2", SPOT, "westus-1"),
    ),
    (
        "TestFilterInstanceOfferings_ZonalOfferingsBeforeRegionalAtSamePriceAndCapacityType",
        [size("Standard_D2s_v3", (0.1, OD, "0"), (0.1, OD, "westus-1"))],
        [BOTH],
        ("Standard_D2s_v3", OD, "westus-1"),
    ),
    (
        "TestFilterInstanceOfferings_SpotRegionalOfferingBeforeOnDemandZonalAtSamePrice",
        [size("Standard_D2s_v3", (0.1, OD, "westus-1"), (0.1, SPOT, "0"))],
        [BOTH, need(ZONE, "In", "westus-1", "0")],
        ("Standard_D2s_v3", SPOT, "0"),
    ),
]


@pytest.mark.parametrize(("types", "wanted", "found"), [pytest.param(*row[1:], id=row[0]) for row in CHOICES])
def test_what_is_bought(types: Sequence[InstanceType], wanted: list[Json], found: tuple[str, str, str]) -> None:
    requirements = Requirements.from_node_selector(wanted, vocabulary=VOCABULARY)
    for order in (types, types[::-1]):
        choice = choose(requirements, order, provider(RELEASE))
        assert (choice.instance_type.name, choice.capacity_type, choice.zone) == found


def test_zones_are_drawn() -> None:
    """TestFilterInstanceOfferings_ZoneTiesAreShuffled"""
    requirements = Requirements.from_node_selector([BOTH], vocabulary=VOCABULARY)
    types = [size("Standard_D2s_v3", *((0.1, OD, f"westus-{number}") for number in (1, 2, 3)))]
    rng = random.Random(1)
    seen = {choose(requirements, types, provider(RELEASE), rng.shuffle).zone for _ in range(200)}
    assert seen == {"westus-1", "westus-2", "westus-3"}
