"""The type that is bought is found without looking at all of them, and is the one that looking at all of them finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.explain.labels.probes import default_objects
from harness.karpenter.instancetypes import Prices, UnavailableOfferings
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch import LaunchTypes, claim_requirements, resolve_instance_types
from harness.karpenter.launch.choice import choose
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.provider.selection import PriceOrders, best_types
from harness.karpenter.releases import provider
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.testing import nodeclass
from harness.world import World
from tests.launch.conftest import OPTIONS, nodeclaim, recorded_region


@pytest.mark.parametrize("version", ["1.6.5", "1.10.2", "1.12.0", "1.14.0"])
def test_the_best_type_alone_is_chosen_as_among_all(version: str) -> None:
    world, numbers = World(region="eastus", karpenter=version), random.Random(11)
    own, _ = default_objects()
    known = world.instance_types
    lists = [known.list({**own, "spec": {"osDiskSizeGB": size}}).types for size in (128, 256)]
    for cheap in sorted(lists[0], key=lambda each: min(one.price for one in each.offerings))[::2]:
        known.unavailable.mark_name("test", cheap.name, "eastus-1", "spot", now=0.0)
    lists.append(known.list(own).types)
    names, orders, bought = [each.name for each in lists[0]], PriceOrders(), 0
    for number in range(60):
        types = lists[number % 3]
        kinds = numbers.choice([["spot"], ["on-demand"], ["on-demand", "spot"]])
        wanted: list[dict[str, Any]] = [
            {"key": INSTANCE_TYPE, "operator": "In", "values": numbers.sample(names, numbers.choice([1, 5, 60]))},
            {"key": CAPACITY_TYPE, "operator": "In", "values": kinds},
        ]
        if numbers.random() < 0.5:
            zones = numbers.sample(["eastus-1", "eastus-2", "eastus-3"], 2)
            wanted.append({"key": ZONE, "operator": "In", "values": zones})
        requests = {"cpu": str(numbers.choice([1, 7, 30])), "memory": "4Gi"}
        claim = {"metadata": {"name": "c"}, "spec": {"requirements": wanted, "resources": {"requests": requests}}}
        requirements = claim_requirements(claim, world.release)
        all_of_them = resolve_instance_types(claim, requirements, types, world.release)
        alone = best_types(claim, LaunchTypes(types, types), world.release, orders)
        try:
            expected = choose(requirements, all_of_them, world.release)
        except LaunchError:
            assert not alone
            continue
        bought += 1
        assert [each.name for each in alone] == [expected.instance_type.name]
        assert choose(requirements, alone, world.release) == expected
    assert bought > 20


CHEAP_SPOT, CHEAP_ON_DEMAND, DEAR = "Standard_D2s_v3", "Standard_D2as_v6", "Standard_D4s_v3"


@pytest.mark.parametrize(
    ("sizes", "kinds", "best"),
    [
        ([CHEAP_SPOT, CHEAP_ON_DEMAND], ["on-demand", "spot"], CHEAP_SPOT),
        ([CHEAP_SPOT, CHEAP_ON_DEMAND], ["spot"], CHEAP_SPOT),
        ([CHEAP_SPOT, CHEAP_ON_DEMAND], ["on-demand"], CHEAP_ON_DEMAND),
        ([DEAR, CHEAP_ON_DEMAND], ["on-demand", "spot"], CHEAP_ON_DEMAND),
        ([DEAR, CHEAP_ON_DEMAND], ["spot"], DEAR),
        ([CHEAP_ON_DEMAND], ["spot"], None),
    ],
)
def test_a_claim_of_both_kinds_gets_the_cheapest_of_either(
    sizes: list[str], kinds: list[str], best: str | None
) -> None:
    """One size is sold on demand only (kaz pkg/providers/allocationstrategy)."""
    release = provider("1.14.0")
    prices = Prices({CHEAP_SPOT: 3.0, CHEAP_ON_DEMAND: 0.5, DEAR: 4.0}, {CHEAP_SPOT: 0.4, DEAR: 2.0})
    marks = UnavailableOfferings()
    for zone in ("0", "southcentralus-1", "southcentralus-2", "southcentralus-3"):
        marks.mark_name("test", CHEAP_ON_DEMAND, zone, "spot", now=0.0)
    region, _ = recorded_region(release)
    types = region.build(options=OPTIONS, nodeclass=nodeclass(osDiskSizeGB=128), prices=prices, unavailable=marks).types
    claim = nodeclaim(size=sizes, capacity_type=kinds)
    alone = best_types(claim, LaunchTypes(types, types), release, PriceOrders())
    assert [each.name for each in alone] == ([best] if best else [])


def test_of_equally_good_sizes_the_first_by_name_is_bought_even_if_another_is_cheaper_elsewhere() -> None:
    """Spot of the other is cheap in a zone that the NodeClaim does not allow."""
    release = provider("1.14.0")
    first, other = CHEAP_ON_DEMAND, CHEAP_SPOT
    assert first < other
    marks = UnavailableOfferings()
    for zone in ("0", "southcentralus-2", "southcentralus-3"):
        marks.mark_name("test", other, zone, "spot", now=0.0)
    prices = Prices({first: 2.0, other: 2.0}, {first: 9.0, other: 1.0})
    region, _ = recorded_region(release)
    types = region.build(options=OPTIONS, nodeclass=nodeclass(osDiskSizeGB=128), prices=prices, unavailable=marks).types
    for zone, best in (("southcentralus-1", other), ("southcentralus-2", first)):
        claim = nodeclaim(size=[first, other], zone=[zone], capacity_type=["on-demand", "spot"])
        assert [each.name for each in best_types(claim, LaunchTypes(types, types), release, PriceOrders())] == [best]
