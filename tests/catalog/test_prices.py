"""The price book: rows by what they are the price of, Linux restored, spot guessed, and how right both are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from fakeazure.catalog import Catalogue
from fakeazure.catalog.prices import Kind, Priority, Software, prices_in
from fakeazure.catalog.prices.derived import FILE
from fakeazure.catalog.prices.elsewhere import product_of
from fakeazure.catalog.prices.linux import restored
from fakeazure.catalog.prices.linux_view import linux_view, view_of
from fakeazure.catalog.prices.rows import CLOUD_SERVICES, LINUX, LINUX_SPOT, kind_of, recorded_regions, recorded_rows
from fakeazure.catalog.prices.spot import fraction_by, usual_fractions
from fakeazure.catalog.tables import read
from tests.catalog.prices import PAGE, HeldOut, all_held_out, figures, page_with
from tools.derived_prices import document


@pytest.mark.parametrize(
    ("product", "sku", "software", "priority"),
    [
        ("Virtual Machines Dsv5 Series", "D2s v5", Software.LINUX, Priority.REGULAR),
        ("Lasv3 Series Linux", "Standard_L8as_v3 Spot", Software.LINUX, Priority.SPOT),
        ("Virtual Machines NCCadsv5 Srs Win", "NCC40adsH100v5", Software.WINDOWS, Priority.REGULAR),
        ("Virtual Machines HXrs Windows", "HX176rs Low Priority", Software.WINDOWS, Priority.LOW),
        ("Dasv5 Series Cloud Services", "Standard_D2as_v5", Software.CLOUD_SERVICES, Priority.REGULAR),
        ("Easv5 Series CloudServices", "Standard_E2as_v5 Low Priority", Software.CLOUD_SERVICES, Priority.LOW),
        ("DSv3 Series Dedicated Host", "Dsv3 Type3", Software.HOST, Priority.REGULAR),
        ("Ddsv5 Series DedicatedHost", "Ddsv5 Type1", Software.HOST, Priority.REGULAR),
        ("NVadsA10v5 DedicatedHost", "Type 1", Software.HOST, Priority.REGULAR),
    ],
)
def test_names_tell_what_a_row_is_the_price_of(product: str, sku: str, software: Software, priority: Priority) -> None:
    assert kind_of(product, sku) == (software, priority)


def test_every_recorded_row_is_there_once_and_of_a_kind() -> None:
    rows = {region: recorded_rows(region) for region in recorded_regions()}
    assert {region: len(listed) for region, listed in rows.items()} == {
        "belgiumcentral": 3773,
        "francecentral": 6239,
        "northeurope": 8106,
        "swedencentral": 7018,
        "westeurope": 8667,
    }
    assert Counter(row.kind for listed in rows.values() for row in listed) == {
        (Software.LINUX, Priority.REGULAR): 6678,
        (Software.LINUX, Priority.SPOT): 6586,
        (Software.LINUX, Priority.LOW): 3533,
        (Software.WINDOWS, Priority.REGULAR): 6356,
        (Software.WINDOWS, Priority.SPOT): 6232,
        (Software.WINDOWS, Priority.LOW): 3359,
        (Software.CLOUD_SERVICES, Priority.REGULAR): 404,
        (Software.CLOUD_SERVICES, Priority.LOW): 404,
        (Software.HOST, Priority.REGULAR): 246,
        (Software.HOST, Priority.SPOT): 1,
        (Software.HOST, Priority.LOW): 4,
    }
    for listed in rows.values():
        machines = Counter((row.size, row.kind) for row in listed if row.kind.software is not Software.HOST)
        assert [key for key, count in machines.items() if count > 1] == []


def test_a_recorded_region_has_its_recorded_prices() -> None:
    book = prices_in("westeurope")
    assert book.rows == recorded_rows("westeurope")
    assert (book.linux["Standard_L32s_v3"], book.spot["Standard_L32s_v3"]) == (3.328, 0.615014)
    assert (str(book.source), book.guessed("Standard_L32s_v3")) == ("andy-diericks/azure-pricing-radar, 2026-08-22", "")


def test_polandcentral_has_reservations_and_savings_plans() -> None:
    book = prices_in("polandcentral")
    rows = [row for row in book.rows if row.size == "Standard_D4as_v5" and row.kind == LINUX]
    assert {row.term: row.usd for row in rows} == {"": 0.208, "1 Year": 1075.0, "3 Years": 2077.0}
    assert rows[0].savings == (("1 Year", 0.15808), ("3 Years", 0.1144))
    assert (book.spot["Standard_D4as_v5"], book.guessed("Standard_D4as_v5")) == (0.038438, "")


def test_elsewhere_linux_is_restored_and_both_rows_are_there() -> None:
    book, static = prices_in("eastus"), Catalogue.load().region("eastus").prices
    sizes = ("Standard_D2as_v5", "Standard_D4as_v5", "Standard_D64as_v5")
    assert [static[size] for size in sizes] == [0.178, 0.172, 5.696]
    assert [book.linux[size] for size in sizes] == [0.086, 0.172, 2.752]
    assert [book.by_kind[CLOUD_SERVICES][size] for size in sizes] == [0.178, 0.356, 5.696]
    assert book.by_kind[Kind(Software.WINDOWS, Priority.REGULAR)]["Standard_D4as_v5"] == 0.356


@pytest.mark.parametrize(
    ("region", "size", "fraction", "where"),
    [
        ("germanywestcentral", "Standard_D4s_v5", 0.1848, "Europe"),
        ("germanywestcentral", "Standard_B4as_v2", 0.9, "Europe"),
        ("eastus", "Standard_D4s_v5", 0.11, "the United States"),
        ("canadacentral", "Standard_B4as_v2", 0.275, "the United States"),
    ],
)
def test_elsewhere_spot_is_a_guess_by_the_nearest_regions(region: str, size: str, fraction: float, where: str) -> None:
    book = prices_in(region)
    assert book.spot[size] == pytest.approx(book.linux[size] * fraction, abs=1e-6)
    assert where in book.guessed(size)
    assert book.guessed("Standard_B2s") == ""  # cannot be spot


@pytest.mark.parametrize("region", Catalogue.load().regions)
def test_every_size_on_sale_has_a_linux_price(region: str) -> None:
    book, sold = prices_in(region), Catalogue.load().region(region)
    missing = [size for size in sold.prices if size not in book.linux]
    assert missing == [] or region in recorded_regions()  # a recorded list is of another day than the table
    assert all(row.usd >= 0 and row.product and row.sku and row.meter and row.size for row in book.rows)


def test_a_size_that_a_price_file_lacks_goes_by_the_static_table() -> None:
    book = prices_in("polandcentral")
    assert str(book.source_of("Standard_D4as_v5")) == "sstybel/azure-vm-price-importer, 2026-01-26"
    assert str(book.source_of("Standard_NV16as_v4")) == "karpenter-provider-azure, 2026-06-18"
    assert book.linux["Standard_NV16as_v4"] == Catalogue.load().region("polandcentral").prices["Standard_NV16as_v4"]
    assert "Europe" in book.guessed("Standard_NV16as_v4")


@pytest.mark.parametrize("region", [*Catalogue.load().regions, "belgiumcentral"])
def test_what_clients_take_for_linux_is_known_without_the_rows(region: str) -> None:
    assert linux_view(region) == view_of(prices_in(region).rows)


def test_one_windows_row_is_taken_for_linux() -> None:
    view = linux_view("westeurope")
    assert (view.linux["Standard_NCC40ads_H100_v5"], view.beside_linux["Standard_NCC40ads_H100_v5"]) == (8.9, (10.74,))
    assert view.beside_spot["Standard_NCC40ads_H100_v5"] == (1.984752,)
    assert linux_view("eastus").beside_linux["Standard_D4as_v5"] == (0.356,)


def test_what_is_kept_of_the_lists_follows_from_them() -> None:
    assert read(FILE) == document(), "stale: python -m tools.derived_prices"


def test_an_unknown_region_has_no_rows() -> None:
    assert prices_in("moonbase").rows == ()


FAMILY = {f"Standard_D{cores}as_v5": 0.04 * cores for cores in (2, 4, 8, 16)}


def listed(factor: float, added: float = 0.046) -> Mapping[Kind, Mapping[str, float]]:
    """A recorded region in which the family costs more by a factor, and all else by 1.1."""
    linux = {size: usd * factor for size, usd in FAMILY.items()}
    cores = {size: int(size.removeprefix("Standard_D").removesuffix("as_v5")) for size in FAMILY}
    others = {f"Standard_E{number}s_v5": number * 1.1 for number in range(2, 9)}
    windows = {size: usd + added * cores[size] for size, usd in linux.items()}
    return {
        LINUX: {**linux, **others},
        CLOUD_SERVICES: windows,
        LINUX_SPOT: {size: usd / 4 for size, usd in linux.items()},
    }


OTHERS = {f"Standard_E{number}s_v5": float(number) for number in range(2, 9)}


@pytest.mark.parametrize(
    "surcharged", [(), (2,), (4, 16), (2, 4, 8), (2, 4, 8, 16)], ids=lambda cores: f"{len(cores)} surcharged"
)
def test_a_surcharge_is_taken_off_where_it_is_in_the_price(surcharged: tuple[int, ...]) -> None:
    """Whatever mixture of both prices a table has, also if it has only one of them."""
    added = {f"Standard_D{cores}as_v5": 0.046 * cores for cores in surcharged}
    table = {size: round(usd + added.get(size, 0), 4) for size, usd in FAMILY.items()}
    prices = restored({**table, **OTHERS}, {"a": listed(1.1), "b": listed(1.3)})
    assert prices == {size: pytest.approx(usd) for size, usd in FAMILY.items()}


def test_a_price_that_no_recorded_region_has_stays() -> None:
    assert restored({"Standard_D2as_v5": 0.178, **OTHERS}, {}) == {}
    assert restored({"Standard_D2as_v9": 0.178, **OTHERS}, {"a": listed(1.0)}) == {}
    assert restored({"Standard_D2as_v5": 0.0}, {"a": listed(1.0)}) == {}


def test_spot_is_the_fraction_of_most_of_the_family_else_of_most_sizes() -> None:
    fractions = usual_fractions(
        {"a": listed(1.0), "b": {LINUX: {"Standard_D2as_v5": 1.0}, LINUX_SPOT: {"Standard_D2as_v5": 0.5}}}
    )
    assert fraction_by(fractions, "Standard_D96as_v5") == 0.25
    assert fraction_by(fractions, "Standard_X1_v9") == 0.25


def test_a_product_is_named_by_the_series() -> None:
    assert product_of("Standard_D4s_v9") == "Virtual Machines Dsv9 Series"
    assert product_of("Standard_E8-2as_v9") == "Virtual Machines Easv9 Series"
    assert product_of("Odd") == "Virtual Machines Odd Series"


@pytest.fixture(scope="module")
def measured() -> dict[str, HeldOut]:
    return {one.region: one for one in all_held_out()}


def test_restored_prices_are_right_in_each_region_that_is_left_out(measured: dict[str, HeldOut]) -> None:
    assert {region: one.restored for region, one in measured.items()} == {
        "belgiumcentral": 0,  # not in the provider's table
        "francecentral": 87,
        "northeurope": 87,
        "swedencentral": 87,
        "westeurope": 87,
        "polandcentral": 78,
    }
    assert [region for region, one in measured.items() if one.right != one.restored] == []
    assert sum(one.surcharged for one in measured.values()) > 200


def test_most_guesses_of_spot_are_right_in_each_region_that_is_left_out(measured: dict[str, HeldOut]) -> None:
    assert {region for region, one in measured.items() if one.percentile(0.7) > 0.01} == set()
    assert {region for region, one in measured.items() if one.percentile(0.9) > 0.01} == {"northeurope"}


def test_the_page_has_the_figures(measured: dict[str, HeldOut]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(figures(list(measured.values()))), (
        "stale: python -m tests.catalog prices --write"
    )
