"""Prices that Karpenter mistakes: what is said of a launch that one decided, and which sizes are at risk."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.sizes.believed import at_risk, mistaken_prices, price_lines
from harness.testing import nodeclass, nodepool, pod, requirement
from harness.world import World

TOSSED, CERTAIN = "Standard_D4as_v5", "Standard_D4s_v5"


def world_with(sizes: list[str], seed: int = 0, **azure: Any) -> World:
    world = World(seed=seed, azure=azure)
    requirements = [
        requirement("karpenter.sh/capacity-type", "on-demand"),
        requirement("node.kubernetes.io/instance-type", *sizes),
    ]
    world.apply(nodeclass(), nodepool(*requirements), pod("web", "3"))
    world.settle()
    return world


def seed_that_believes(usd: float) -> int:
    return next(seed for seed in range(20) if World(seed=seed).instance_types.prices_in_use.on_demand[TOSSED] == usd)


def test_a_size_that_is_taken_at_another_price_than_is_billed_is_told() -> None:
    world = world_with([TOSSED], seed_that_believes(0.356))
    assert list(price_lines(world)) == [
        "Karpenter took Standard_D4as_v5 for 0.3560, Azure bills 0.1720 USD/h: the price list has two rows for it "
        "(guessed: no list of eastus is recorded)"
    ]


def test_a_cheaper_size_that_is_passed_over_is_told() -> None:
    world = world_with([TOSSED, CERTAIN], seed_that_believes(0.356))
    assert list(price_lines(world)) == [
        "Karpenter took Standard_D4s_v5, which Azure bills at 0.1920 USD/h, over Standard_D4as_v5: Azure bills 0.1720, Karpenter believes "
        "0.3560: the price list has two rows for it (guessed: no list of eastus is recorded)"
    ]
    (mistaken,) = mistaken_prices(world)
    assert len(mistaken.nodes) == 1


@pytest.mark.parametrize("sizes", [[TOSSED, CERTAIN], [CERTAIN, "Standard_D4ds_v5"]], ids=["drawn right", "no toss"])
def test_nothing_is_said_where_no_price_is_mistaken(sizes: list[str]) -> None:
    assert list(price_lines(world_with(sizes, seed_that_believes(0.172)))) == []


def test_without_the_list_karpenter_goes_by_its_table() -> None:
    assert list(price_lines(world_with(["Standard_E4as_v5"], prices="static"))) == [
        "Karpenter took Standard_E4as_v5 for 0.4100, Azure bills 0.2260 USD/h: Karpenter goes by the table that it brings along"
    ]


def test_the_sizes_at_risk_in_a_region() -> None:
    risks = {(risk.size, risk.capacity_type): risk for risk in at_risk(World())}
    assert (risks[TOSSED, "on-demand"].rows, risks[TOSSED, "on-demand"].billed) == ((0.172, 0.356), 0.172)
    assert (CERTAIN, "on-demand") not in risks
    assert at_risk(World(azure={"prices": {TOSSED: 1.0}})) != []
    assert TOSSED not in {risk.size for risk in at_risk(World(azure={"prices": {TOSSED: 1.0}}))}
