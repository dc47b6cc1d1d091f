"""A supposed discount on spot: it takes the place of every price on spot that a world does not declare, in rows and tables alike."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.catalog import Catalogue
from fakeazure.catalog.prices.linux_view import view_of
from fakeazure.catalog.prices.rows import Priority
from fakeazure.market.amendments import amended
from fakeazure.market.market import Market
from fakeazure.market.spec import build_market, lay_over, market_mistakes

CATALOGUE = Catalogue.load()


def market(**azure: Any) -> Market:
    return build_market(CATALOGUE, {"spotDiscount": "70%", **azure}, now=0.0)


@pytest.mark.parametrize("region", ["westeurope", "polandcentral", "eastus"])
def test_every_row_on_spot_is_that_much_below_its_product_on_demand(region: str) -> None:
    rows = list(market().price_list().rows(region))
    plain = list(Market(CATALOGUE).price_list().rows(region))
    assert [row[:4] for row in rows] == [row[:4] for row in plain]
    regular = {
        (row.size, row.kind.software): row.usd for row in rows if row.kind.priority is Priority.REGULAR and not row.term
    }
    spot = [row for row in rows if row.kind.priority is Priority.SPOT]
    assert len(spot) > 1000
    for row in spot:
        if (row.size, row.kind.software) in regular:
            assert row.usd == pytest.approx(0.3 * regular[row.size, row.kind.software], abs=1e-6)
    others = [row for row in rows if row.kind.priority is not Priority.SPOT]
    assert others == [row for row in plain if row.kind.priority is not Priority.SPOT]


@pytest.mark.parametrize("region", ["westeurope", "polandcentral", "eastus"])
def test_the_table_of_linux_prices_says_what_the_rows_say(region: str) -> None:
    assert market().linux_view(region) == view_of(market().price_list().rows(region))


def test_a_declared_price_on_spot_stays_and_a_declared_one_on_demand_is_discounted() -> None:
    prices = {"Standard_D2s_v5": {"spot": 0.05}, "Standard_D4s_v5": 1.0}
    view = market(prices=prices).linux_view("eastus")
    assert (view.spot["Standard_D2s_v5"], view.linux["Standard_D2s_v5"]) == (0.05, 0.096)
    assert (view.spot["Standard_D4s_v5"], view.linux["Standard_D4s_v5"]) == (0.3, 1.0)


def test_a_size_of_a_worlds_own_has_the_discount_unless_it_has_a_price_on_spot() -> None:
    own = {"like": "Standard_D8s_v5", "price": 0.5}
    sizes = {"Standard_X8_v9": own, "Standard_Y8_v9": {**own, "spot": 0.1}}
    catalogue = amended(CATALOGUE, {"sizes": sizes}, "eastus")
    spot = build_market(catalogue, {"spotDiscount": "70%", "sizes": sizes}, now=0.0).linux_view("eastus").spot
    assert (spot["Standard_X8_v9"], spot["Standard_Y8_v9"]) == (0.15, 0.1)


def test_it_changes_while_a_world_runs() -> None:
    world = market()
    before = world.linux_view("eastus").spot["Standard_D4s_v5"]
    lay_over(world, {"spotDiscount": "10%"}, now=0.0)
    assert (before, world.linux_view("eastus").spot["Standard_D4s_v5"]) == (0.0576, 0.1728)


@pytest.mark.parametrize("text", ["70", 70, 0.7, "100%", "-1%", "1e1%", "", "70%%", "\u0667%"], ids=repr)
def test_only_a_percentage_below_a_hundred_is_one(text: Any) -> None:
    (mistake,) = market_mistakes(CATALOGUE, {"spotDiscount": text})
    assert str(mistake).startswith(
        "spotDiscount: a percentage from 0% to less than 100% is expected, such as 70%, not "
    )


@pytest.mark.parametrize("prices", ["static", {"*": "static", "Standard_D4s_v5": 1.0}], ids=["all", "others"])
def test_a_list_that_nobody_reads_has_no_supposed_prices(prices: Any) -> None:
    """Karpenter would go by its own table, so that the supposition would hold of the bill alone."""
    spec = {"spotDiscount": "70%", "prices": prices}
    expected = "spotDiscount: Karpenter reads no list with `prices: static`, so that it would not go by the discount"
    assert [str(mistake).startswith(expected) for mistake in market_mistakes(CATALOGUE, spec)] == [True]
    assert market_mistakes(CATALOGUE, {**spec, "prices": {"Standard_D4s_v5": 1.0}}) == []
