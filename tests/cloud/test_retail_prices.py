"""Azure's price list: spot has a price of its own."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.market.prices import ON_DEMAND, SPOT, Prices
from tests.cloud.driver import SMALL, SmallRegion

PRICES = "/api/retail/prices"


def prices(size: str, region: str = "eastus", **azure: Any) -> dict[str, float]:
    query = {"$filter": f"armRegionName eq '{region}' and armSkuName eq '{size}'"}
    body = FakeAzure(azure=azure).request("GET", PRICES, query=query).body
    assert body is not None
    return {item["skuName"].rpartition(" ")[2]: item["retailPrice"] for item in body["Items"]}


@pytest.mark.parametrize(  # recorded: skypilot-org/skypilot-catalog catalogs/v6/azure/vms.csv
    ("size", "region", "on_demand", "spot"),
    [
        ("Standard_D8s_v5", "eastus", 0.384, 0.04224),
        ("Standard_D8s_v5", "eastus2", 0.384, 0.04992),
        ("Standard_D8pds_v5", "westus2", 0.362, 0.03982),
        ("Standard_E8s_v5", "westcentralus", 0.605, 0.07865),
        ("Standard_B2as_v2", "eastus", 0.0752, 0.02068),
        ("Standard_M8ms", "eastus", 1.5365, 0.169015),
    ],
)
def test_spot_has_azures_discount(size: str, region: str, on_demand: float, spot: float) -> None:
    assert prices(size, region) == {"v5" if "v5" in size else "v2" if "v2" in size else "M8ms": on_demand, "Spot": spot}


def test_a_size_that_cannot_be_spot_has_no_such_price() -> None:
    assert "Spot" not in prices("Standard_B2s")
    assert "Spot" in prices("Standard_D2s_v5")


def test_prices_are_told_to_a_millionth() -> None:
    assert prices("Standard_M416ds_6_v3")["Spot"] == 14.516618


@pytest.mark.parametrize("declared", [False, True])
def test_a_table_is_of_one_kind(declared: bool) -> None:
    """Whether anything is declared or not."""
    region = SmallRegion("eastus", (), SMALL)
    region.spot_prices = {name: usd / 2 for name, usd in region.prices.items()}
    table, expected = Prices(), {ON_DEMAND: dict(region.prices), SPOT: dict(region.spot_prices)}
    if declared:
        table.set("Standard_D4s_v5", 0.01, kind=SPOT)
        expected[SPOT]["Standard_D4s_v5"] = 0.01
    assert {kind: table.table(region, "eastus", kind) for kind in expected} == expected
    assert table.table(region, "eastus") == expected[ON_DEMAND]


def test_what_a_world_says_goes_first() -> None:
    assert prices("Standard_D2s_v5", prices={"Standard_D2s_v5": {"spot": 0.05}})["Spot"] == 0.05
    assert prices("Standard_D2s_v5", prices={"Standard_D2s_v5": 1.0})["Spot"] == 0.11
    assert "Spot" not in prices("Standard_D2s_v5", prices={"Standard_D2s_v5": {"spot": None}})
