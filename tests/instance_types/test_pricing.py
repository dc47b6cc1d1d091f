"""What Karpenter believes that sizes cost: its static table, then Azure's list, and which of two rows it takes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.karpenter.instancetypes import Prices
from harness.karpenter.labels.core import ON_DEMAND, SPOT
from harness.karpenter.provider.pricing import READ_AGAIN, READ_FIRST, PriceList, Pricing
from harness.testing import nodeclass, nodepool, pod
from harness.world import World

HOUR = 3600.0
TOSSED, CERTAIN = "Standard_D4as_v5", "Standard_D4s_v5"
LINUX, CLOUD_SERVICES = 0.172, 0.356
PLAIN = nodeclass("default", imageFamily="Ubuntu2204")


class Source:
    """A list whose prices are the number of the reading."""

    def __init__(self) -> None:
        self.declarations = self.readings = 0
        self.answers = True

    def static(self) -> Prices:
        return Prices({"A": -1.0 - self.declarations}, {"A": -1.0})

    def begin_reading(self) -> int | None:
        self.readings += self.answers
        return self.readings if self.answers else None

    def prices(self, reading: int) -> Prices:
        return Prices({"A": reading + self.declarations / 10}, {})


def test_the_list_is_read_at_the_start_and_every_twelve_hours() -> None:
    """Kaz pkg/providers/pricing/pricing.go, NewProvider."""
    clock, source = Clock(), Source()
    pricing = Pricing(clock, source, running=False)
    found = []
    for seconds in (
        0.0,
        READ_FIRST - 1,
        READ_FIRST,
        READ_FIRST + READ_AGAIN - 1,
        READ_FIRST + READ_AGAIN,
        3 * READ_AGAIN,
    ):
        clock.advance_to(int(seconds * SECOND))
        found.append((pricing.prices().on_demand["A"], pricing.live))
    assert found == [(-1.0, False), (-1.0, False), (1.0, True), (1.0, True), (2.0, True), (3.0, True)]


def test_a_controller_that_runs_already_has_read_it() -> None:
    assert Pricing(Clock(), Source(), running=True).prices().on_demand == {"A": 1.0}


def test_a_list_that_does_not_answer_leaves_prices_as_they_are() -> None:
    """Kaz pkg/providers/pricing/pricing.go, updatePricing."""
    clock, source = Clock(), Source()
    source.answers = False
    pricing = Pricing(clock, source, running=True)
    assert (pricing.prices().on_demand["A"], pricing.live) == (-1.0, False)
    source.answers = True
    clock.advance_to(int(12 * HOUR * SECOND))
    assert pricing.prices().on_demand["A"] == 1.0
    source.answers = False
    clock.advance_to(int(24 * HOUR * SECOND))
    assert pricing.prices().on_demand["A"] == 1.0


@pytest.mark.parametrize(("running", "price"), [(True, 1.1), (False, -2.0)])
def test_declared_prices_count_at_once(running: bool, price: float) -> None:
    source = Source()
    pricing = Pricing(Clock(), source, running=running)
    pricing.prices()
    source.declarations += 1
    assert (pricing.prices().on_demand["A"], pricing.declarations) == (price, 1)


def test_one_of_several_rows_is_drawn_for_each_size_and_capacity_type() -> None:
    listed = PriceList.of(
        {ON_DEMAND: {"A": 1.0, "B": 2.0}, SPOT: {"A": 0.1}},
        {ON_DEMAND: {"A": (3.0,), "C": (4.0, 5.0)}, SPOT: {"A": (0.2,)}},
    )
    asked: dict[str, Any] = {}
    prices = listed.read(lambda name, usd: asked.setdefault(name, usd)[-1])
    assert asked == {"on-demand/A": (1.0, 3.0), "on-demand/C": (4.0, 5.0), "spot/A": (0.1, 0.2)}
    assert (prices.on_demand, prices.spot) == ({"A": 3.0, "B": 2.0, "C": 5.0}, {"A": 0.2})


def believed(world: World, size: str = TOSSED) -> float:
    return world.instance_types.prices_in_use.on_demand[size]


def test_seeds_draw_either_price_and_always_the_same() -> None:
    counts = Counter(believed(World(seed=seed)) for seed in range(40))
    assert counts.keys() == {LINUX, CLOUD_SERVICES}
    assert min(counts.values()) > 8
    assert [believed(World(seed=seed)) for seed in range(5)] == [believed(World(seed=seed)) for seed in range(5)]
    assert {believed(World(seed=seed), CERTAIN) for seed in range(5)} == {0.192}


def test_each_reading_draws_anew_and_a_list_keeps_its_prices_for_23_hours() -> None:
    """Kaz pkg/providers/instancetype/instancetypes.go: the key of its cache leaves prices out, InstanceTypesCacheTTL."""
    world = World(seed=1)
    types = world.instance_types
    prices = []
    for _ in range(30):
        types.cached(PLAIN)
        prices.append(types.prices_in_use.on_demand)
        world.advance(6 * HOUR)
    moments = [6 * number for number in range(1, 30) if prices[number] is not prices[number - 1]]
    assert moments == [24, 48, 72, 96, 120, 144, 168]
    assert {tuple(sorted(each.items())) for each in prices} != {tuple(sorted(prices[0].items()))}


@pytest.mark.parametrize(("release", "after"), [("1.10.2", True), ("1.14.0", False)])
def test_the_usage_of_a_quota_makes_lists_anew_where_it_is_looked_at(release: str, after: bool) -> None:
    """Kaz v1.14.0 pkg/providers/instancetype/instancetypes.go (the key has quotaProvider.SeqNum), pkg/providers/quota (Update)."""
    world = World(karpenter=release)
    world.apply(PLAIN, nodepool())
    world.settle()
    world.advance(11 * HOUR)
    nodeclass_there = world.get("AKSNodeClass", "default")
    assert nodeclass_there is not None
    world.instance_types.cached(nodeclass_there)
    first = world.instance_types.prices_in_use
    world.advance(2 * HOUR)
    world.apply(pod("web", "1"))
    world.settle()
    world.advance(660)
    world.instance_types.cached(nodeclass_there)
    assert (world.instance_types.prices_in_use is first) == after


@pytest.mark.parametrize("release", ["1.4.0", "1.7.2", "1.14.0"])
def test_a_controller_that_starts_in_a_cluster_with_nodepools_goes_by_its_table_first(release: str) -> None:
    world = World(karpenter=release)
    world.apply(PLAIN, nodepool())
    world.settle()
    assert world.instance_types.prices_in_use.spot[CERTAIN] == 0.02112
    world.restart_karpenter()
    assert world.instance_types.prices_in_use.spot[CERTAIN] == 0.192
    world.advance(22 * HOUR)
    assert world.instance_types.prices_in_use.spot[CERTAIN] == 0.192
    world.advance(2 * HOUR)
    world.instance_types.cached(PLAIN)
    assert world.instance_types.prices_in_use.spot[CERTAIN] == 0.02112


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ("live", (0.192, 0.02112)),
        ("static", (0.192, 0.192)),
        ({CERTAIN: 0.5}, (0.5, 0.055)),
        ({"*": "static", CERTAIN: 0.5}, (0.5, 0.192)),
        ({CERTAIN: {"spot": 0.01}}, (0.192, 0.01)),
        (
            [{"armSkuName": CERTAIN, "productName": "P", "skuName": "D4s v5", "meterName": "D4s v5", "retailPrice": 7}],
            (7.0, None),
        ),
    ],
    ids=str,
)
def test_what_a_world_says_of_prices(prices: Any, expected: tuple[float, float | None]) -> None:
    world = World(azure={"prices": prices})
    found = world.instance_types.prices_in_use
    assert (found.on_demand.get(CERTAIN), found.spot.get(CERTAIN)) == expected


def test_the_bill_is_never_the_toss() -> None:
    prices = {
        (World(seed=seed).price(TOSSED, ON_DEMAND).usd, World(seed=seed).price(TOSSED, SPOT).usd) for seed in range(6)
    }
    assert prices == {(LINUX, 0.01892)}
    assert World(azure={"prices": "static"}).price("Standard_D2as_v5", ON_DEMAND).usd == 0.086
    assert World(region="westeurope").price(TOSSED, SPOT).guess == ""
    assert "nine regions of the United States" in World().price(TOSSED, SPOT).guess


def test_worlds_share_what_is_read() -> None:
    one, other = World(seed=3), World(seed=3, karpenter="1.7.2")
    assert one.instance_types.prices_in_use is other.instance_types.prices_in_use
