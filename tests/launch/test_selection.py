"""The type that is bought is found without looking at all of them, and is the one that looking at all of them finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.explain.labels.probes import default_objects
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch import claim_requirements, resolve_instance_types
from harness.karpenter.launch.choice import choose
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.provider.selection import PriceOrders, best_types
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.world import World


@pytest.mark.parametrize("version", ["1.6.5", "1.10.2", "1.12.0", "1.14.0"])
def test_the_best_type_alone_is_chosen_as_among_all(version: str) -> None:
    world, numbers = World(region="eastus", karpenter=version), random.Random(11)
    nodeclass, _ = default_objects()
    provider = world.instance_types
    lists = [provider.list({**nodeclass, "spec": {"osDiskSizeGB": size}}).types for size in (128, 256)]
    for cheap in sorted(lists[0], key=lambda each: min(one.price for one in each.offerings))[::2]:
        provider.unavailable.mark_name("test", cheap.name, "eastus-1", "spot", now=0.0)
    lists.append(provider.list(nodeclass).types)
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
        alone = best_types(claim, types, world.release, orders)
        try:
            expected = choose(requirements, all_of_them, world.release)
        except LaunchError:
            assert not alone
            continue
        bought += 1
        assert [each.name for each in alone] == [expected.instance_type.name]
        assert choose(requirements, alone, world.release) == expected
    assert bought > 20
