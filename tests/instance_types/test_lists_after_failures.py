"""Lists of instance types after failures: made from the list before, and the same as made anew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.explain.labels.probes import default_objects
from harness.karpenter.instancetypes import Region, Sku
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.world import World


def test_a_list_after_a_failure_is_the_list_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a failure is not about is kept, and only that: sizes, families, all spot, marks that end."""
    world, numbers = World(region="eastus"), random.Random(7)
    nodeclass = default_objects()[0]
    world.apply(nodeclass)
    instance_types, region = world.instance_types, world.instance_types.region
    skus = [region.skus[name] for name in numbers.sample(sorted(region.skus), 40)]
    made: list[str] = []
    build = Region._build

    def counted(self: Region, sku: Sku, *rest: Any) -> Any:
        made.append(sku.name)
        return build(self, sku, *rest)

    monkeypatch.setattr(Region, "_build", counted)
    now = world.clock.seconds
    for number, sku in enumerate(skus):
        zone, kind = numbers.choice(["eastus-1", "eastus-2", "0"]), numbers.choice(["spot", "on-demand"])
        if number == 20:
            instance_types.unavailable.mark_spot("SpotQuota", now=now, ttl=7200)
        elif number == 30:
            instance_types.unavailable.mark_name("x", sku.name, zone, kind, now=now, ttl=7200)
        else:
            instance_types.unavailable.mark("SkuNotAvailable", sku, zone, kind, now=now, ttl=7200 - 3600 * (number % 2))
        if number % 3:
            made.clear()
            found, count = instance_types.list(nodeclass), len(made)
            settings = NodeClassSettings.of(nodeclass, world.options, world.release)
            anew = instance_types._build(settings, instance_types._pricing.prices())
            assert all(one is other for one, other in zip(found.types, anew.types, strict=True))
            assert found.dropped == anew.dropped
            assert count < len(found.types) / 2 or number in (1, 20, 22)
    instance_types.unavailable.expire(now + 4000)
    assert all(
        one is other
        for one, other in zip(
            instance_types.list(nodeclass).types,
            instance_types._build(settings, instance_types._pricing.prices()).types,
            strict=True,
        )
    )


def test_a_nodeclass_of_ones_own_may_be_changed_between_two_questions() -> None:
    world = World()
    tried: dict[str, Any] = {**default_objects()[0], "spec": {"osDiskSizeGB": 1024}}
    before = world.instance_types.list(tried).types[0].capacity["ephemeral-storage"]
    tried["spec"]["osDiskSizeGB"] = 2048
    after = world.instance_types.list(tried).types[0].capacity["ephemeral-storage"]
    assert (str(before), str(after)) == ("1024G", "2048G")
