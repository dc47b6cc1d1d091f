"""The catalogue as its users call it: sharing, unknown names, replacing a region's list."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from fakeazure.catalog import Catalogue, CatalogueError, UnknownRegion, UnknownSize
from fakeazure.catalog.catalogue import recorded_skus
from fakeazure.catalog.synthesis import SizeRow, describe


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


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("eastuss", "unknown region 'eastuss'; did you mean 'eastus' or 'eastus2' or 'westus'?"),
        ("East US", "unknown region 'East US'; did you mean 'eastus'?"),
        ("WestEurope", "unknown region 'WestEurope'; did you mean 'westeurope'?"),
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
    assert len(packaged.region("eastus").skus) == 1291
    assert changed.regions == packaged.regions


def test_a_region_that_is_only_imported_is_listed_and_found() -> None:
    own = dataclasses.replace(Catalogue.load().region("eastus"), name="belgiumcentral")
    assert Catalogue.load().with_region(own).region("belgiumcentral") is own
    assert "belgiumcentral" in Catalogue.load().with_region(own).regions


def test_the_stored_capabilities_are_what_todays_rules_say() -> None:
    """The data file is not older than the rules: whoever changes a rule runs `python -m fakeazure.catalog.build`."""
    region = Catalogue.load().region("westeurope")
    recorded = {record["name"] for record in recorded_skus("southcentralus")}
    derived = [record for record in region.skus if record["name"] not in recorded]
    assert len(derived) > 900
    for record in derived:
        said = {pair["name"]: pair["value"] for pair in record["capabilities"]}
        row = SizeRow(
            record["name"],
            record["family"],
            int(said["vCPUs"]),
            round(float(said["MemoryGB"]) * 1024),
            int(said.get("GPUs", "0")),
            {"x64": "amd64", "Arm64": "arm64"}[said["CpuArchitectureType"]],
        )
        described = describe(row)
        assert dict(described.capabilities) == said, record["name"]
        assert described.guessed <= region.guessed(record["name"]), record["name"]


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
    assert not loaded & {"gzip", "csv", "argparse", "difflib", "pydantic", "yaml", "fakeazure.catalog.build"}
    assert not [
        name for name in loaded if name.startswith("fakeazure.catalog.") and name.endswith(("series", "importer"))
    ]
