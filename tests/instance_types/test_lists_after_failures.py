"""Lists of instance types after failures: made from the list before, and the same as made anew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.explain.labels import default_objects
from harness.karpenter.instancetypes import Region, Sku
from harness.karpenter.instancetypes.knobs import Knobs
from harness.world import World


def test_a_list_after_a_failure_is_the_list_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a failure is not about is kept, and only that: sizes, families, all spot, marks that end."""
    world, numbers = World(region="eastus"), random.Random(7)
    nodeclass = default_objects()[0]
    world.apply(nodeclass)
    offers, region = world.offers, world.offers.region
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
            offers.unavailable.mark_spot("SpotQuota", now=now, ttl=7200)
        elif number == 30:
            offers.unavailable.mark_name("x", sku.name, zone, kind, now=now, ttl=7200)
        else:
            offers.unavailable.mark("SkuNotAvailable", sku, zone, kind, now=now, ttl=7200 - 3600 * (number % 2))
        if number % 3:
            made.clear()
            found, count = offers.list(nodeclass), len(made)
            knobs = Knobs.of(nodeclass, world.options, world.release)
            anew = offers._build(knobs)
            assert all(one is other for one, other in zip(found.types, anew.types, strict=True))
            assert found.dropped == anew.dropped
            assert count < len(found.types) / 2 or number in (1, 20, 22)
    offers.unavailable.expire(now + 4000)
    assert all(
        one is other for one, other in zip(offers.list(nodeclass).types, offers._build(knobs).types, strict=True)
    )
