"""The catalogue as its users call it: sharing, unknown names, replacing a region's list."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from fakeazure.catalog import Catalogue, CatalogueError, UnknownRegion, UnknownSize
from fakeazure.catalog.errors import NotSold
from fakeazure.catalog.regions import REGIONS, UltraDisk


def test_everything_is_shared() -> None:
    first, second = Catalogue.load(), Catalogue.load()
    assert first is second
    assert first.region("eastus") is second.region("eastus")
    east, west = first.region("eastus"), first.region("westus3")
    assert east.sku("Standard_D4s_v5")["capabilities"] is west.sku("Standard_D4s_v5")["capabilities"]


def test_a_region_cannot_be_changed() -> None:
    region = Catalogue.load().region("eastus")
    with pytest.raises(dataclasses.FrozenInstanceError):
        region.name = "westus"  # type: ignore[misc]
    for mapping in (region.by_name, region.prices):
        with pytest.raises(TypeError):
            mapping["Standard_X"] = 1  # type: ignore[index]


@pytest.mark.parametrize("asked", ["East US", "EastUS", "eastus"])
def test_a_region_is_known_by_any_of_its_names(asked: str) -> None:
    assert Catalogue.load().region(asked).name == "eastus"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("eastuss", "unknown region 'eastuss'; did you mean 'eastus' or 'eastus2' or 'westus'?"),
        ("qqq", "unknown region 'qqq'"),
        ("", "unknown region ''"),
    ],
)
def test_an_unknown_region_says_what_could_have_been_meant(asked: str, text: str) -> None:
    with pytest.raises(UnknownRegion) as refusal:
        Catalogue.load().region(asked)
    assert str(refusal.value) == text
    assert isinstance(refusal.value, CatalogueError)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Standard_D4s_v55", "Standard_D4s_v5"),
        ("D4s_v5", "Standard_D4s_v5"),
        ("standard_d4s_v5", "Standard_D4s_v5"),
        ("Standard_NC24ads_A10_v4", "Standard_NC24ads_A100_v4"),
    ],
)
def test_an_unknown_size_says_what_could_have_been_meant(asked: str, first: str) -> None:
    region = Catalogue.load().region("eastus")
    for ask in (region.sku, region.guessed):
        with pytest.raises(UnknownSize) as refusal:
            ask(asked)
        assert refusal.value.suggestions[0] == first
        assert str(refusal.value).startswith(f"unknown size {asked!r} in eastus; did you mean {first!r}")


def test_a_replaced_region_leaves_the_catalogue_as_it_was() -> None:
    packaged = Catalogue.load()
    own = dataclasses.replace(packaged.region("eastus"), skus=(), by_name={}, source="own.json")
    changed = packaged.with_region(own)
    assert changed.region("eastus") is own
    assert changed.region("westus") is packaged.region("westus")
    assert len(packaged.region("eastus").skus) == 1424
    assert changed.regions == packaged.regions


def test_a_region_that_is_only_imported_is_listed_and_found() -> None:
    own = dataclasses.replace(Catalogue.load().region("eastus"), name="belgiumcentral")
    assert Catalogue.load().with_region(own).region("belgiumcentral") is own
    assert "belgiumcentral" in Catalogue.load().with_region(own).regions


def said(name: str, region: str = "eastus", as_of: str | None = None) -> dict[str, str]:
    """The capabilities of a size in a region."""
    record = Catalogue.load(as_of).region(region).sku(name)
    return {pair["name"]: pair["value"] for pair in record["capabilities"]}


def test_the_lists_of_another_day() -> None:
    then, now = Catalogue.load("2025-06-02").region("eastus"), Catalogue.load().region("eastus")
    assert "Standard_D4s_v7" in now.by_name
    assert "Standard_D4s_v7" not in then.by_name
    assert (len(then.skus), then.sources("Standard_D4s_v5")["capabilities"].date) == (1034, "2025-06-02")
    assert "Standard_E64i_v3" in then.by_name  # listed until 2026-05-03
    assert "Standard_E64i_v3" not in now.by_name
    assert said("Standard_F8as_v6")["LowPriorityCapable"] == "True"
    assert said("Standard_F8as_v6", as_of="2025-05-20")["LowPriorityCapable"] == "False"  # spot since 2025-05-27
    assert "vCPUsConstraintsAllowed" not in said("Standard_D4s_v5", as_of="2025-06-02")
    order = list(said("Standard_D4s_v5"))
    assert [name for name in order if name in said("Standard_D4s_v5", as_of="2025-06-02")] == list(
        said("Standard_D4s_v5", as_of="2025-06-02")
    )


def test_an_imported_list_stays_on_every_day() -> None:
    own = dataclasses.replace(Catalogue.load().region("eastus"), source="mine.json")
    then = Catalogue.load().with_region(own).on_day("2025-06-02")
    assert then.region("eastus") is own
    assert then.region("westus") is Catalogue.load("2025-06-02").region("westus")


def test_the_day_of_the_lists_is_the_last_one_before() -> None:
    days = {
        "2025-06-08": "2025-06-02",
        "2026-06-15": "2026-06-15",
        "2030-01-01": "2026-08-17",
        "2025-04-07": "2025-04-07",
    }
    for asked, day in days.items():
        region = Catalogue.load(asked).region("westus3")
        assert region.sources("Standard_D4s_v5")["capabilities"].date == day
    same = Catalogue.load("2026-06-15").region("eastus")
    assert same.skus == Catalogue.load().region("eastus").skus


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("2025-04-06", "no list of sizes is as old as 2025-04-06; the first is of 2025-04-07"),
        ("yesterday", "'yesterday' is no date; write 2026-06-15"),
        ("2026-02-30", "'2026-02-30' is no date; write 2026-06-15"),
    ],
)
def test_a_day_without_a_list(asked: str, text: str) -> None:
    with pytest.raises(CatalogueError) as refusal:
        Catalogue.load(asked)
    assert str(refusal.value) == text


@pytest.mark.parametrize(
    ("region", "size", "field", "reason"),
    [
        ("eastus", "Standard_D4ds_v5", "zones", None),
        ("eastus", "Standard_D4s_v7", "zones", "those of standardDSv5Family, the nearest family recorded in eastus"),
        ("eastus", "Standard_NC12s_v3", "zones", "those of other sizes of standardNCSv3Family in eastus"),
        ("eastus", "Standard_D4", "zones", "all of eastus: no family near it is recorded there"),
        ("italynorth", "Standard_D4s_v5", "zones", "all of italynorth: no list of the region's zones is recorded"),
        ("westus", "Standard_D4s_v5", "zones", None),
        ("swedensouth", "Standard_D4s_v5", "zones", "it is not recorded whether swedensouth has zones"),
        ("eastus", "Standard_D4s_v5", "UltraSSDAvailable", None),
        (
            "westeurope", "Standard_D4s_v5", "UltraSSDAvailable",
            "recorded of other regions; how westeurope lists ultra disks is not recorded",
        ),
        (
            "eastus", "Standard_D4ps_v5", "UltraSSDAvailable",
            "no list states it; this is that of standardDPLDSv5Family, the nearest family",
        ),
        ("eastus", "Standard_D4ds_v6", "UltraSSDAvailable", "no list states it; this is that of other sizes of its family"),
        ("eastus", "Standard_B4ps_v2", "UltraSSDAvailable", "no list states it, nor of a family near it"),
        ("eastus", "Standard_NC24ads_A100_v4", "LowPriorityCapable", None),
        (
            "westus3", "Standard_NC24ads_A100_v4", "LowPriorityCapable",
            "lists without a region said True and False by turns; this is that of the day",
        ),
    ],
)  # fmt: skip
def test_a_guess_has_its_reason(region: str, size: str, field: str, reason: str | None) -> None:
    assert Catalogue.load().region(region).guessed(size).get(field) == reason


def test_zones_of_other_subscriptions_are_in_the_first_ones_numbers() -> None:
    """D2as_v6 is in 2 and 3 for the one whose list is of 2025-06-03; the sizes that both list tell that these are 1 and 2."""
    region = Catalogue.load().region("southcentralus")
    assert region.sku("Standard_D2as_v6")["locationInfo"][0]["zones"] == ["1", "2"]
    assert str(region.sources("Standard_D2as_v6")["zones"]) == "karpenter-provider-azure v1.14.0, 2025-06-03"


def test_reading_one_region_imports_little() -> None:
    """The default path stays light: no gzip, csv, argparse or difflib to read a list."""
    script = (
        "import sys, json\n"
        "from fakeazure.catalog import Catalogue\n"
        "Catalogue.load().region('eastus')\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"gzip", "csv", "argparse", "difflib", "pydantic", "yaml"}
    assert not [name for name in loaded if name.startswith("fakeazure.catalog.") and name.endswith("importer")]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "sold in r0"),
        (6, "sold in r0, r1, r2, r3, r4, r5"),
        (8, "sold in r0, r1, r2, r3, r4, r5 and 2 more regions"),
    ],
)
def test_six_regions_are_named_where_a_size_is_sold(count: int, text: str) -> None:
    elsewhere = [f"r{number}" for number in range(count)]
    assert str(NotSold("Standard_X", "here", elsewhere)) == f"Standard_X is not sold in here; {text}"


def test_ultra_disks_are_the_zones_or_the_regions_or_nobodys() -> None:
    found = {kind: {name for name, region in REGIONS.items() if region.ultra is kind} for kind in UltraDisk}
    assert found[UltraDisk.REGIONAL] == {"southcentralus", "westus", "northcentralus", "australiacentral"}
    assert found[UltraDisk.ZONAL] == {name for name, region in REGIONS.items() if region.zones} - {"southcentralus"}


@pytest.mark.parametrize(("region", "guessed"), [("eastus", False), ("southcentralus", False), ("westus3", True)])
def test_ultra_disks_are_guessed_where_no_recording_has_them(region: str, guessed: bool) -> None:
    assert ("UltraSSDAvailable" in REGIONS[region].guessed) is guessed
