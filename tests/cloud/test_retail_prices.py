"""Azure's price list as clients read it: all rows of a size, names as Azure writes them, filters, pages, currencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from fakeazure import FakeAzure
from fakeazure.arm.messages import Response
from fakeazure.catalog.prices.locations import LOCATIONS
from fakeazure.catalog.prices.rows import recorded_regions
from fakeazure.catalog.regions import REGIONS
from fakeazure.market.prices import ON_DEMAND, SPOT, Prices
from fakeazure.resources.sizes.retail_prices import CURRENCIES
from tests.cloud.driver import SMALL, SmallRegion

PRICES = "/api/retail/prices"
PLAIN: Mapping[str, str] = MappingProxyType({})
PREVIEW = {"api-version": "2023-01-01-preview"}


def prices(size: str, region: str = "eastus", **azure: Any) -> dict[str, float]:
    """What Karpenter's provider takes (kaz pkg/providers/pricing/pricing.go), of products of virtual machines alone."""
    listed = items(f"armRegionName eq '{region}' and armSkuName eq '{size}'", azure)
    return {
        "Spot" if item["skuName"].endswith(" Spot") else "": item["retailPrice"]
        for item in listed
        if not item["productName"].endswith((" Windows", " Cloud Services"))
        and not item["meterName"].endswith(" Low Priority")
    }


def ask(
    filter_: str = "", azure: Mapping[str, Any] = MappingProxyType({}), query: Mapping[str, str] = PLAIN
) -> Response:
    wanted = {"$filter": filter_} if filter_ else {}
    return FakeAzure(azure=azure).request("GET", PRICES, query={**wanted, **query})


def items(
    filter_: str, azure: Mapping[str, Any] = MappingProxyType({}), query: Mapping[str, str] = PLAIN
) -> list[dict[str, Any]]:
    answer = ask(filter_, azure, query)
    assert answer.status == 200, answer.body
    assert answer.body is not None
    found: list[dict[str, Any]] = answer.body["Items"]
    return found


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
    assert prices(size, region) == {"": on_demand, "Spot": spot}


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


def test_a_declared_price_is_the_only_one_of_its_size() -> None:
    azure = {"prices": {"Standard_D2as_v5": 1.0, "Standard_D4as_v5": {"spot": 0.05}}}
    rows = items("armRegionName eq 'eastus' and armSkuName eq 'Standard_D2as_v5'", azure)
    assert [(row["skuName"], row["retailPrice"]) for row in rows] == [
        ("Standard_D2as_v5", 1.0),
        ("Standard_D2as_v5 Spot", 0.11),
    ]
    rows = items("armRegionName eq 'eastus' and armSkuName eq 'Standard_D4as_v5'", azure)
    assert len(rows) == 8  # a declared price on spot takes that row's place
    linux_spot = [
        row["retailPrice"] for row in rows if row["productName"].endswith("Series") and "Spot" in row["skuName"]
    ]
    assert linux_spot == [0.05]


def test_a_size_of_the_worlds_own_has_rows_of_linux() -> None:
    azure = {"sizes": {"Standard_X8_v9": {"like": "Standard_D8s_v5", "price": 0.5, "spot": 0.1}}}
    rows = items("armRegionName eq 'eastus' and armSkuName eq 'Standard_X8_v9'", azure)
    assert [(row["productName"], row["skuName"], row["retailPrice"]) for row in rows] == [
        ("Virtual Machines Xv9 Series", "X8 v9", 0.5),
        ("Virtual Machines Xv9 Series", "X8 v9 Spot", 0.1),
    ]


def test_all_rows_of_a_size_are_listed_as_recorded() -> None:
    rows = items("armRegionName eq 'westeurope' and armSkuName eq 'Standard_D4as_v5'")
    assert [(row["productName"], row["meterName"], row["retailPrice"]) for row in rows] == [
        ("Dasv5 Series Cloud Services", "D4as v5", 0.392),
        ("Dasv5 Series Cloud Services", "D4as v5 Low Priority", 0.157),
        ("Virtual Machines Dasv5 Series", "D4as v5", 0.208),
        ("Virtual Machines Dasv5 Series", "D4as v5 Low Priority", 0.0416),
        ("Virtual Machines Dasv5 Series", "D4as v5 Spot", 0.038438),
        ("Virtual Machines Dasv5 Series Windows", "D4as v5", 0.392),
        ("Virtual Machines Dasv5 Series Windows", "D4as v5 Low Priority", 0.157),
        ("Virtual Machines Dasv5 Series Windows", "D4as v5 Spot", 0.072442),
    ]
    assert {(row["location"], row["armRegionName"]) for row in rows} == {("EU West", "westeurope")}


def test_ids_have_azures_shape_and_are_a_products_and_a_skus_own() -> None:
    rows = items("armRegionName eq 'westeurope' and armSkuName eq 'Standard_D4as_v5'")
    assert all(re.fullmatch(r"DZH318Z0[0-9A-Z]{4}", row["productId"]) for row in rows)
    assert all(re.fullmatch(rf"{row['productId']}/[0-9A-Z]{{4}}", row["skuId"]) for row in rows)
    assert len({row["productId"] for row in rows}) == 3
    assert len({row["skuId"] for row in rows}) == len({row["meterId"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "filter_",
    [
        "armRegionName eq 'westeurope' and armSkuName eq 'Standard_D2s_v5' and contains(meterName, 'Spot') eq false",
        "armRegionName eq 'westeurope' and armSkuName eq 'Standard_D2s_v5' and contains(meterName, 'Spot') ne true",
        "armRegionName eq 'westeurope' and armSkuName eq 'Standard_D2s_v5' and not contains(meterName, 'Spot')",
        "Location eq 'EU West' and ArmSkuName eq 'Standard_D2s_v5' and contains(tolower(meterName), 'spot') eq false",
        "location eq 'EU West' and tolower(armSkuName) eq 'standard_d2s_v5' and contains(METERNAME, 'Spot') eq false",
        "location eq 'EU West' and toupper(armSkuName) eq 'STANDARD_D2S_V5' and endswith(skuName, ' Spot') eq false",
        "contains(armRegionName, 'westeur') and startswith(armSkuName, 'Standard_D2s_v5') and not endswith(skuName, 'Spot')",
        "(location eq 'EU West' or armRegionName eq 'westeurope') and armSkuName eq 'Standard_D2s_v5' "
        "and contains(meterName, 'Spot') eq false",
    ],
)
def test_filters_are_odata(filter_: str) -> None:
    rows = items(filter_, query=PREVIEW)
    assert [(row["productName"].removeprefix("Virtual Machines "), row["meterName"]) for row in rows] == [
        ("Dsv5 Series", "D2s v5"),
        ("Dsv5 Series", "D2s v5 Low Priority"),
        ("Dsv5 Series Windows", "D2s v5"),
        ("Dsv5 Series Windows", "D2s v5 Low Priority"),
    ]


def test_the_preview_compares_values_with_case_and_has_savings_plans() -> None:
    wanted = "armRegionName eq 'polandcentral' and armskuname eq 'standard_d4as_v5' and priceType eq 'Consumption'"
    assert len(items(wanted)) == 5
    assert items(wanted, query=PREVIEW) == []
    rows = items(wanted.replace("standard_d4", "Standard_D4"), query=PREVIEW)
    [linux] = [row for row in rows if "savingsPlan" in row]
    assert linux["savingsPlan"] == [
        {"unitPrice": 0.15808, "retailPrice": 0.15808, "term": "1 Year"},
        {"unitPrice": 0.1144, "retailPrice": 0.1144, "term": "3 Years"},
    ]
    assert all("savingsPlan" not in row for row in items(wanted))


def test_reservations_cost_a_whole_term() -> None:
    rows = items("armRegionName eq 'polandcentral' and armSkuName eq 'Standard_D4as_v5' and priceType eq 'Reservation'")
    assert [(row["reservationTerm"], row["retailPrice"], row["type"]) for row in rows] == [
        ("1 Year", 1075.0, "Reservation"),
        ("3 Years", 2077.0, "Reservation"),
    ]


def test_a_size_is_listed_in_all_regions() -> None:
    azure = {"regions": {"moonbase": {"like": "eastus"}}}
    rows = items(
        "armSkuName eq 'Standard_D2s_v5' and productName eq 'Virtual Machines Dsv5 Series' and skuName ne 'x'", azure
    )
    regular = {row["armRegionName"] for row in rows if row["meterName"] == "D2s v5"}
    assert len(regular) > 50
    assert {"eastus", "westeurope", "polandcentral", "moonbase"} <= regular


@pytest.mark.parametrize("currency", ["EUR", "'EUR'", "'eur'"])
def test_another_currency_goes_by_the_stated_rate(currency: str) -> None:
    wanted = "armRegionName eq 'westeurope' and armSkuName eq 'Standard_D4as_v5' and meterName eq 'D4as v5'"
    answer = ask(wanted, query={"currencyCode": currency}).body
    assert answer is not None
    assert answer["BillingCurrency"] == "EUR"
    assert [(row["currencyCode"], row["retailPrice"]) for row in answer["Items"]] == [
        ("EUR", round(row["retailPrice"] * CURRENCIES["EUR"], 6)) for row in items(wanted)
    ]


@pytest.mark.parametrize(
    ("filter_", "query", "message"),
    [
        ("nothing eq 'x'", {}, "Could not find a property named 'nothing'."),
        ("tolower(nothing) eq 'x'", {}, "Could not find a property named 'nothing'."),
        ("contains(meterName, 'x') eq 5", {}, "expected true or false"),
        ("", {"currencyCode": "JPY"}, "prices are known in USD and EUR, not in 'JPY'"),
        ("", {"$top": "x"}, "$top is no number"),
        ("", {"$orderby": "nothing"}, "Could not find a property named 'nothing'."),
        ("", {"$orderby": "skuName down"}, "$orderby is not understood: 'skuName down'"),
        ("", {"$orderby": "skuName asc desc"}, "$orderby is not understood"),
        ("", {"$orderby": "retailPrice"}, "more than 20000 items are not sorted; name a region in the filter"),
        ("", {"$skip": "-1"}, "$skip is no number"),
        (" or ".join(["retailPrice gt 1000000"] * 99), {}, "too long for the rows of so many regions"),
        (" or ".join(["retailPrice gt 1000000"] * 101), {}, "node count limit"),
    ],
)
def test_what_the_list_does_not_understand_is_refused(filter_: str, query: dict[str, str], message: str) -> None:
    answer = ask(filter_, query=query)
    assert answer.status == 400
    assert answer.body is not None
    assert message in answer.body["Error"]["Message"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("retailPrice desc", ["Windows 0.188", "0.096", "Windows Spot 0.02068", "Spot 0.01056"]),
        ("retailprice", ["Spot 0.01056", "Windows Spot 0.02068", "0.096", "Windows 0.188"]),
        ("productName desc, RetailPrice asc", ["Windows Spot 0.02068", "Windows 0.188", "Spot 0.01056", "0.096"]),
    ],
)
def test_items_come_in_the_order_that_is_asked_for(order: str, expected: list[str]) -> None:
    wanted = "armRegionName eq 'eastus' and armSkuName eq 'Standard_D2s_v5' and contains(meterName, 'Low') eq false"
    rows = items(wanted, query={"$orderby": order})
    words = [
        [
            *(["Windows"] if row["productName"].endswith("Windows") else []),
            *(["Spot"] if row["skuName"].endswith("Spot") else []),
            f"{row['retailPrice']:g}",
        ]
        for row in rows
    ]
    assert [" ".join(each) for each in words] == expected
    assert items(wanted, query={"$orderby": order, "$top": "1"}) == rows[:1]


def test_a_list_that_is_not_served_does_not_answer() -> None:
    assert ask(azure={"prices": "static"}).status == 503
    assert ask(azure={"prices": {"*": "static", "Standard_D2s_v5": 0.05}}).status == 503
    assert ask(azure={"prices": "live"}).status == 200


def test_rows_that_are_withheld_are_billed_all_the_same() -> None:
    cloud = FakeAzure()
    listed = cloud.market.price_list().rows_of_size("Standard_D4as_v5", "eastus")
    cloud.market.prices.withheld = frozenset(row for row in listed if row.usd == 0.172)
    wanted = {"$filter": "armRegionName eq 'eastus' and armSkuName eq 'Standard_D4as_v5'"}
    body = cloud.request("GET", PRICES, query=wanted).body or {}
    assert [row["retailPrice"] for row in body["Items"] if not row["skuName"].endswith("Spot")].count(0.172) == 0
    assert len(body["Items"]) == len(listed) - 1
    assert cloud.market.linux_view("eastus").linux["Standard_D4as_v5"] == 0.172


def test_declared_rows_take_the_place_of_a_sizes_rows() -> None:
    row = {"armSkuName": "Standard_D2s_v5", "productName": "Virtual Machines Dsv5 Series", "skuName": "D2s v5"}
    azure = {"prices": [{**row, "meterName": "D2s v5", "retailPrice": 0.5, "armRegionName": "eastus"}]}
    assert prices("Standard_D2s_v5", **azure) == {"": 0.5}
    assert prices("Standard_D2s_v5", "westus", **azure)[""] == 0.112
    assert prices("Standard_D4s_v5", **azure)[""] == 0.192


def test_pages_together_have_as_many_items_as_top_allows() -> None:
    query, counts = {"$filter": "armRegionName eq 'eastus'", "$top": "1500"}, []
    azure = FakeAzure()
    while query:
        body = azure.request("GET", PRICES, query=query).body
        assert body is not None
        counts.append(body["Count"])
        query = dict(parse_qsl(urlsplit(body["NextPageLink"] or "").query))
    assert counts == [1000, 500]
    assert len(items("armRegionName eq 'eastus'", query={"$top": "3"})) == 3
    assert items("armRegionName eq 'eastus'", query={"$top": "0"}) == []


def test_the_provider_finds_two_prices_of_a_size() -> None:
    """Its filter keeps "Cloud Services" beside Linux (kaz pkg/providers/pricing/pricing.go, `processPage`)."""
    wanted = (
        "priceType eq 'Consumption' and currencyCode eq 'USD' and serviceFamily eq 'Compute' and "
        "serviceName eq 'Virtual Machines' and armRegionName eq 'eastus' and armSkuName eq 'Standard_D4as_v5'"
    )
    rows = items(wanted, query=PREVIEW)
    kept = [
        row["retailPrice"]
        for row in rows
        if not row["productName"].endswith(" Windows")
        and not row["meterName"].endswith(" Low Priority")
        and not row["skuName"].endswith(" Spot")
    ]
    assert sorted(kept) == [0.172, 0.356]


def test_every_region_has_its_name_in_the_list() -> None:
    assert set(LOCATIONS) == {*REGIONS, *recorded_regions()}
    assert len(set(LOCATIONS.values())) == len(LOCATIONS)


def test_a_recorded_region_is_listed_though_the_catalogue_has_no_sizes_of_it() -> None:
    rows = items(
        "location eq 'BE Central' and armSkuName eq 'Standard_D16lds_v5' and endswith(meterName, 'Low Priority')"
    )
    assert {(row["armRegionName"], row["productName"]): row["retailPrice"] for row in rows} == {
        ("belgiumcentral", "Virtual Machines Dldsv5 Series"): 0.178,
        ("belgiumcentral", "Virtual Machines Dldsv5 Series Windows"): 0.65,
    }
