"""Sizes and regions that a world has beside those of the catalogue, or otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.catalog import Catalogue
from fakeazure.market.spec import market_mistakes

SKUS = "/subscriptions/00000000-1111-2222-3333-444444444444/providers/Microsoft.Compute/skus"


def record(azure: FakeAzure, size: str) -> dict[str, Any]:
    query = {"api-version": "2021-07-01", "$filter": f"location eq '{azure.state.settings.location}'"}
    answer = azure.request("GET", SKUS, query=query)
    assert answer.body is not None
    return next(dict(one) for one in answer.body["value"] if one["name"] == size)


def capability(found: dict[str, Any], name: str) -> str | None:
    return next((pair["value"] for pair in found["capabilities"] if pair["name"] == name), None)


def test_a_size_is_changed_in_one_world() -> None:
    change = {
        "zones": ["1"],
        "capabilities": {"MaxDataDiskCount": 3, "AcceleratedNetworkingEnabled": None},
        "price": 0.5,
    }
    azure = FakeAzure(region="eastus", azure={"sizes": {"Standard_D4s_v5": change}})
    found, other = record(azure, "Standard_D4s_v5"), record(FakeAzure(region="eastus"), "Standard_D4s_v5")
    assert found["locationInfo"][0]["zones"] == ["1"]
    assert (capability(found, "MaxDataDiskCount"), capability(found, "vCPUs")) == ("3", "4")
    assert capability(found, "AcceleratedNetworkingEnabled") is None
    assert len(other["locationInfo"][0]["zones"]) == 3
    assert capability(other, "AcceleratedNetworkingEnabled") == "True"
    region = azure.market.region("eastus")
    assert region is not None
    assert azure.market.prices.on_demand(region, "Standard_D4s_v5", "eastus") == 0.5
    assert Catalogue.load().region("eastus").prices["Standard_D4s_v5"] == 0.192


def test_a_size_is_added() -> None:
    new = {
        "like": "Standard_D8s_v5",
        "family": "standardXv9Family",
        "price": 0.5,
        "spot": 0.1,
        "regions": ["eastus", "westus"],
    }
    azure = FakeAzure(region="westus", azure={"sizes": {"Standard_X8_v9": new}, "quota": {"standardXv9Family": 8}})
    found = record(azure, "Standard_X8_v9")
    assert (found["size"], found["family"], found["locationInfo"][0]["zones"]) == ("X8_v9", "standardXv9Family", [])
    usages = azure.market.usages(azure.state.settings.subscription, "westus")
    assert [one["limit"] for one in usages if one["name"]["value"] == "standardXv9Family"] == [8]  # type: ignore[index]
    bare = {"capabilities": {"vCPUs": 2, "MemoryGB": 4}}
    assert record(FakeAzure(azure={"sizes": {"Standard_Y2": bare}}), "Standard_Y2")["family"] == "standardY2Family"


def test_a_region_is_added() -> None:
    azure = FakeAzure(region="moon", azure={"regions": {"moon": {"like": "eastus", "zones": ["1", "2"]}}})
    found = record(azure, "Standard_D4s_v5")
    assert (found["locations"], found["locationInfo"][0]["zones"]) == (["moon"], ["1", "2"])
    query = {"api-version": "2022-12-01"}
    locations = azure.request("GET", f"/subscriptions/{azure.state.settings.subscription}/locations", query=query).body
    assert locations is not None
    assert "moon" in {one["name"] for one in locations["value"]}
    region = Catalogue.load().regions
    assert "moon" not in region


def test_a_region_is_changed_in_one_world() -> None:
    """It keeps its own sizes, which are not those of the world's region."""
    own = FakeAzure(region="eastus").market.region("westus")
    found = FakeAzure(region="eastus", azure={"regions": {"westus": {"zones": ["1"]}}}).market.region("westus")
    assert own is not None
    assert found is not None
    assert (found.zones, own.zones) == (("1",), ())
    assert [sku["name"] for sku in found.skus] == [sku["name"] for sku in own.skus]
    assert found.prices == own.prices
    new = FakeAzure(region="eastus", azure={"regions": {"moon": {}}}).market.region("moon")
    assert new is not None
    assert new.prices == Catalogue.load().region("eastus").prices


def test_every_mistake_is_told() -> None:
    spec = {
        "regions": {"Moon": {}, "mars": {"like": "eastsu"}, "venus": {"like": "eastus", "zones": ["a"]}, "x": 5},
        "sizes": {
            "D4s": {},
            "Standard_D4s_v5": {"zones": ["4"], "prise": 1},
            "Standard_D2s_v5": {"zones": ["4"]},
            "Standard_Z2": {},
            "Standard_Z3": {"like": "Standard_D4s_v55"},
            "Standard_Z4": {"like": "Standard_D4s_v5", "price": -1},
            "Standard_Z5": {"like": "Standard_D4s_v5", "regions": ["eastsu"]},
            "Standard_Z6": {"capabilities": {"vCPUs": "two", "MemoryGB": 1}},
        },
    }
    assert [str(one) for one in market_mistakes(Catalogue.load(), spec)] == [
        "regions.Moon: a region's short name has lower-case letters and digits, not 'Moon'",
        "regions.mars: unknown region 'eastsu'; did you mean 'eastus' or 'eastus2' or 'eastasia'?",
        "regions.venus.zones: zones are numbers from 1, not 'a'",
        "regions.x: expected a mapping, found 5",
        "sizes.D4s: a size's name is like Standard_D4s_v5, not 'D4s'",
        "sizes.Standard_D4s_v5: unknown field 'prise'; did you mean 'price'?",
        "sizes.Standard_D2s_v5.zones: eastus has no zone '4'; known are 1, 2, 3",
        "sizes.Standard_Z2: a new size needs `like` or the capabilities vCPUs and MemoryGB",
        "sizes.Standard_Z3.like: unknown size 'Standard_D4s_v55'; did you mean 'Standard_D4s_v5'?",
        "sizes.Standard_Z4.price: USD per hour of 0 or more, not -1",
        "sizes.Standard_Z5.regions: unknown region 'eastsu'; did you mean 'eastus'?",
        "sizes.Standard_Z6.capabilities.vCPUs: a number is expected, not 'two'",
    ]
    with pytest.raises(ValueError, match=r"regions\.Moon: "):
        FakeAzure(azure=spec)
