"""Sizes of one price, where a NodeClaim cannot name them all: which ones it names is the order of a Go map, so a world's seed decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.engine.rng import Rng
from harness.karpenter.scheduling import EqualPrices
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.kube.go.sort import sort_slice
from harness.world import World
from tests.scheduling.workload import VOCABULARY, size

KINDS = ("on-demand", "spot")
POD: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "100m"}}}]},
}
NODEPOOL: Mapping[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [],
            }
        }
    },
}


OF_ONE_PRICE = {"1.4.0": 0.05, "1.6.6": 0.05, "1.14.0": 2.6}
"""What all sizes of series E cost, so that the list of a NodeClaim ends among them: after 60 sizes, from core 1.8 on after 600."""


def named(release: str, seed: int) -> frozenset[str]:
    """The sizes that the first NodeClaim of a NodePool without requirements names."""
    world = World(karpenter=release, seed=seed)
    sizes = world.caches.catalogue.region(world.region).by_name
    world.change_azure({"prices": {size: OF_ONE_PRICE[release] for size in sizes if size.startswith("Standard_E")}})
    world.apply(
        {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "default"}},
        NODEPOOL,
        POD,
    )
    world.settle(allow_rejections=True)
    claim = world.list("NodeClaim")[0]
    (values,) = (
        one["values"] for one in claim["spec"]["requirements"] if one["key"] == "node.kubernetes.io/instance-type"
    )
    return frozenset(values)


@pytest.mark.parametrize(("release", "count"), [("1.6.6", 60), ("1.14.0", 600)])
def test_the_seed_decides_among_sizes_of_the_price_at_which_the_list_ends(release: str, count: int) -> None:
    lists = [named(release, seed) for seed in range(3)]
    assert len(set(lists)) == 3
    assert {len(sizes) for sizes in lists} == {count}
    always = frozenset.intersection(*lists)
    assert all(size.startswith("Standard_E") for sizes in lists for size in sizes - always)
    assert named(release, 2) == lists[2]  # the same seed, the same world


def test_by_name_in_1_4_0() -> None:
    assert named("1.4.0", 0) == named("1.4.0", 1)


NAMES = tuple(f"size-{number:02d}" for number in range(30))


def order(prices: EqualPrices, *, without: str = "", zones: Sequence[str] = ("z1",)) -> list[str]:
    """Names of sizes of one price as they are sorted, one of them sold out."""
    types = [
        size(name, 4, zones=zones, unavailable=[(zone, kind) for zone in zones for kind in KINDS if name == without])
        for name in NAMES
    ]
    index = CatalogIndex(types, VOCABULARY)
    found = list(range(len(NAMES)))
    prices.sort(found, [1.0] * len(found), index)
    return [NAMES[position] for position in found]


def test_the_order_stays_until_something_is_sold_out_or_had_again() -> None:
    """The provider keeps its list of what is sold (kaz instancetypes.go List)."""
    prices = EqualPrices(Rng(1).pick)
    first = order(prices)
    assert sorted(first) == list(NAMES) != first
    assert order(prices) == first
    assert order(prices, without="size-07") != first
    assert order(prices) == first
    assert order(EqualPrices(Rng(2).pick)) != first


def test_prices_come_first_and_without_chance_the_order_is_gos() -> None:
    prices = [float(position % 3) for position in range(len(NAMES))]
    index = CatalogIndex([size(name, 4) for name in NAMES], VOCABULARY)
    drawn, sorted_by_go, go = (list(range(len(NAMES))) for _ in range(3))
    EqualPrices(Rng(1).pick).sort(drawn, prices, index)
    assert [prices[position] for position in drawn] == sorted(prices)
    EqualPrices().sort(sorted_by_go, prices, index)
    sort_slice(go, prices.__getitem__)
    assert sorted_by_go == go


@pytest.mark.parametrize("count", [1, 7, 10, 11, 20, 29])
def test_only_the_price_at_which_a_list_ends_is_drawn_for(count: int) -> None:
    prices = [float(position % 3) for position in range(len(NAMES))]
    index = CatalogIndex([size(name, 4) for name in NAMES], VOCABULARY)
    drawn: list[str] = []

    def draw(name: str, values: Sequence[int]) -> int:
        drawn.append(name)
        return Rng(1).pick(name, values)

    whole, first = list(range(len(NAMES))), list(range(len(NAMES)))
    EqualPrices(Rng(1).pick).sort(whole, prices, index)
    EqualPrices(draw).sort(first, prices, index, first=count)
    assert set(first[:count]) == set(whole[:count])
    assert len(drawn) == (0 if count % 10 == 0 else 10)


def test_of_two_sizes_of_one_price_each_may_be_the_first() -> None:
    index = CatalogIndex([size(name, 4) for name in "ab"], VOCABULARY)
    first = set()
    for seed in range(20):
        found = [0, 1]
        EqualPrices(Rng(seed).pick).sort(found, [1.0, 1.0], index)
        first.add(found[0])
    assert first == {0, 1}
