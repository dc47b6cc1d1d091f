"""What holds for every record of every region: 59,386 of them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from fakeazure.catalog import Catalogue, RegionCatalogue

FIELDS = [
    "resourceType", "name", "tier", "size", "family", "locations", "locationInfo", "capabilities", "restrictions",
]  # fmt: skip
WHOLE = ("vCPUs", "vCPUsAvailable", "MaxResourceVolumeMB", "MaxDataDiskCount", "MaxNetworkInterfaces", "vCPUsPerCore")
WHOLE_IF_STATED = ("GPUs", "CachedDiskBytes", "NvmeDiskSizeInMiB", "UncachedDiskIOPS", "ACUs")
BOOLEAN = (
    "PremiumIO", "AcceleratedNetworkingEnabled", "EphemeralOSDiskSupported", "EncryptionAtHostSupported",
    "LowPriorityCapable", "RdmaEnabled", "CapacityReservationSupported", "MemoryPreservingMaintenanceSupported",
)  # fmt: skip
# The grammar by which Karpenter's library takes sizes apart (github.com/Azure/skewer v0.0.24 vmsize.go); sizes that do not
# follow it are dropped.
SKEWER = re.compile(
    r"([A-Z])([A-Z]?)([A-Z]?)([0-9]+)-?([0-9]*)((?:[abcdeiflmnotspPr]+|C+|NP)?)_?(?:(xl_[A-Z]+[0-9]+[A-Z]*|[A-Z]+[0-9]+)_?)?"
    r"(_cc_)?(_[0-9]+_)?(_MI300X_)?(_H100_)?((?:[vV][1-9])?)(_Promo)?"
)
# No such size parses there, whatever the catalogue says.
UNPARSED = {"M416s_8_v2", "ND128isr_NDR_GB200_v6"}

# The provider's price table says 0 here, and Karpenter believes it: such a size is the cheapest of all.
FREE = {"spaincentral": {f"Standard_L{vcpus}as_v3" for vcpus in (8, 16, 32, 48, 64, 80)}}

REGION_NAMES = Catalogue.load().regions


@pytest.fixture(params=REGION_NAMES)
def region(request: pytest.FixtureRequest) -> RegionCatalogue:
    """Each region in turn."""
    return Catalogue.load().region(request.param)


def test_there_are_57_regions_and_every_pair_of_the_tables() -> None:
    catalogue = Catalogue.load()
    assert len(REGION_NAMES) == 57
    assert len(catalogue.region("eastus").skus) == 1424
    # pairs of a size that Azure lists and a region where it has a price
    assert sum(len(catalogue.region(name).skus) for name in REGION_NAMES) == 59_386


def test_records_are_complete_and_name_their_region(region: RegionCatalogue) -> None:
    names = Counter(record["name"] for record in region.skus)
    assert [name for name, count in names.items() if count > 1] == []
    assert list(names) == sorted(names)
    assert dict(region.by_name) == {record["name"]: record for record in region.skus}
    for record in region.skus:
        assert sorted(record) == sorted(FIELDS)
        assert record["resourceType"] == "virtualMachines"
        assert record["name"] == f"{record['tier']}_{record['size']}"
        assert record["family"]
        assert record["locations"] == [region.name]
        assert [info["location"] for info in record["locationInfo"]] == [region.name]


def test_zones_are_digits_of_the_region(region: RegionCatalogue) -> None:
    assert set(region.zones) <= {"1", "2", "3"}
    for record in region.skus:
        (info,) = record["locationInfo"]
        assert set(info["zones"]) <= set(region.zones)
        assert len(set(info["zones"])) == len(info["zones"])
        for details in info.get("zoneDetails", []):
            assert set(details["Name"]) <= set(info["zones"])
            assert details["capabilities"] == [{"name": "UltraSSDAvailable", "value": "True"}]


def test_karpenter_can_read_every_capability_that_it_reads(region: RegionCatalogue) -> None:
    for record in region.skus:
        said = {pair["name"]: pair["value"] for pair in record["capabilities"]}
        assert len(said) == len(record["capabilities"]), f"{record['name']} states a capability twice"
        assert all(said[name].isdecimal() for name in WHOLE), record["name"]
        assert all(said[name].isdecimal() for name in WHOLE_IF_STATED if name in said), record["name"]
        assert all(said[name] in ("True", "False") for name in BOOLEAN), record["name"]
        assert float(said["MemoryGB"]) > 0
        assert int(said["vCPUs"]) >= int(said["vCPUsAvailable"]) > 0
        assert said["CpuArchitectureType"] in ("x64", "Arm64")
        assert said["HyperVGenerations"] in ("V1", "V2", "V1,V2")
        assert said.get("UltraSSDAvailable", "True") in ("True", "False")


def test_an_ephemeral_disk_has_somewhere_to_be(region: RegionCatalogue) -> None:
    for record in region.skus:
        said = {pair["name"]: pair["value"] for pair in record["capabilities"]}
        room = {
            "NvmeDisk": int(said.get("NvmeDiskSizeInMiB", "0")),
            "CacheDisk": int(said.get("CachedDiskBytes", "0")),
            "ResourceDisk": int(said["MaxResourceVolumeMB"]),
        }
        placements = [place for place in said.get("SupportedEphemeralOSDiskPlacements", "").split(",") if place]
        assert bool(placements) == (said["EphemeralOSDiskSupported"] == "True"), record["name"]
        assert all(room[place] > 0 for place in placements), record["name"]


def test_sizes_parse_as_karpenter_parses_them(region: RegionCatalogue) -> None:
    for record in region.skus:
        assert record["size"] in UNPARSED or SKEWER.fullmatch(record["size"]), record["name"]


def test_prices_are_positive_and_only_of_sizes_on_sale(region: RegionCatalogue) -> None:
    assert set(region.prices) <= set(region.by_name)
    assert len(region.prices) == len(region.skus)
    free = {name for name, price in region.prices.items() if price <= 0}
    assert free == FREE.get(region.name, set())
    assert dict(region.spot_prices) == dict(region.prices)


def test_only_what_differs_by_region_is_guessed(region: RegionCatalogue) -> None:
    for name in region.by_name:
        guessed = region.guessed(name)
        assert set(guessed) <= {"zones", "LowPriorityCapable", "UltraSSDAvailable"}, name
        assert all(guessed.values()), name
        sources = region.sources(name)
        assert not sources.keys() & guessed.keys(), name
        assert sources["capabilities"].date == "2026-06-15"
        assert sources["prices"].date == "2026-06-18"
        assert bool(region.zones) == ("zones" in sources or "zones" in guessed) or region.name == "swedensouth", name


def test_every_zone_has_a_source_or_a_reason() -> None:
    counts: Counter[str] = Counter()
    for name in REGION_NAMES:
        region = Catalogue.load().region(name)
        for size in region.by_name if region.zones else ():
            source = region.sources(size).get("zones")
            counts[source.date if source is not None else "guess"] += 1
    # one subscription's view of 2023-08-09, and what three others add to it in its numbers
    assert counts.pop("2023-08-09") == 11_836
    assert set(counts) == {"2023-07-08", "2024-12-13", "2025-06-03", "guess"}
