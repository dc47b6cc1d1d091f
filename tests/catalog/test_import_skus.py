"""A user's own `az vm list-skus`: what is taken, and the one line that each malformed file gets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakeazure.catalog import Catalogue
from fakeazure.catalog.importer import SkuFileError, read

# As az prints it: nulls for what is not there, and the zone names twice, under `Name` and as a null `name`.
AZ_D4S_V3: dict[str, Any] = {
    "apiVersions": None,
    "capabilities": [
        {"name": "vCPUs", "value": "4"},
        {"name": "MemoryGB", "value": "16"},
        {"name": "CpuArchitectureType", "value": "x64"},
        {"name": "LowPriorityCapable", "value": "True"},
    ],
    "capacity": None,
    "costs": None,
    "family": "standardDSv3Family",
    "kind": None,
    "locationInfo": [
        {
            "location": "eastus",
            "zoneDetails": [
                {
                    "Name": ["2", "3", "1"],
                    "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}],
                    "name": None,
                }
            ],
            "zones": ["2", "3", "1"],
        }
    ],
    "locations": ["eastus"],
    "name": "Standard_D4s_v3",
    "resourceType": "virtualMachines",
    "restrictions": [
        {
            "reasonCode": "NotAvailableForSubscription",
            "restrictionInfo": {"locations": ["eastus"], "zones": ["3"]},
            "type": "Zone",
            "values": ["eastus"],
        }
    ],
    "size": "D4s_v3",
    "tier": "Standard",
}
DISK = {"resourceType": "disks", "name": "Premium_LRS", "locations": ["eastus"], "locationInfo": [], "restrictions": []}


def written(folder: Path, content: Any) -> Path:
    """The content as a file: bytes and text as they are, the rest as JSON."""
    path = folder / "skus.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
    return path


def changed(**fields: Any) -> dict[str, Any]:
    """The D4s_v3 entry with other fields."""
    return {**copy.deepcopy(AZ_D4S_V3), **fields}


def test_azs_output_becomes_arm_records(tmp_path: Path) -> None:
    listed = read(written(tmp_path, [DISK, AZ_D4S_V3]))
    assert (listed.region, listed.ignored) == ("eastus", 1)
    (record,) = listed.records
    assert "kind" not in record
    assert record["locationInfo"] == [
        {
            "location": "eastus",
            "zones": ["2", "3", "1"],
            "zoneDetails": [
                {"Name": ["2", "3", "1"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}
            ],
        }
    ]
    assert record["restrictions"] == AZ_D4S_V3["restrictions"]
    assert record["capabilities"] == AZ_D4S_V3["capabilities"]


def powershell(value: Any) -> Any:
    """Keys as Get-AzComputeResourceSku spells them."""
    if isinstance(value, list):
        return [powershell(element) for element in value]
    if isinstance(value, dict):
        return {key[0].upper() + key[1:]: powershell(inner) for key, inner in value.items() if inner is not None}
    return value


@pytest.mark.parametrize(
    "shape",
    [
        lambda entry: [entry],
        lambda entry: {"value": [entry]},
        lambda entry: {"nextLink": None, "value": [entry]},
        lambda entry: [powershell(entry)],
        lambda entry: json.dumps([entry]).encode("utf-16"),
        lambda entry: b"\xef\xbb\xbf" + json.dumps([entry]).encode(),
        lambda entry: [{key: value for key, value in entry.items() if key not in ("tier", "size")}],
        lambda entry: [{**entry, "locations": ["East US"]}],
    ],
    ids=[
        "list",
        "value",
        "null nextLink",
        "powershell",
        "utf-16",
        "byte order mark",
        "no tier and size",
        "display name",
    ],
)
def test_shapes_that_are_the_same_list(tmp_path: Path, shape: Callable[[Any], Any]) -> None:
    plain = read(written(tmp_path, [AZ_D4S_V3]))
    assert read(written(tmp_path, shape(AZ_D4S_V3))).records == plain.records


def test_what_is_written_is_read_back_and_always_the_same(tmp_path: Path) -> None:
    first = read(written(tmp_path, [changed(name="Standard_Z1", size="Z1"), AZ_D4S_V3]))
    again = read(written(tmp_path, [AZ_D4S_V3, changed(name="Standard_Z1", size="Z1")]))
    assert first.text() == again.text()
    assert read(written(tmp_path, first.text())).records == first.records
    assert '"family": "größer"' in read(written(tmp_path, [changed(family="größer")])).text()


def test_the_catalogues_own_list_survives(tmp_path: Path) -> None:
    region = Catalogue.load().region("eastus")
    assert read(written(tmp_path, {"value": list(region.skus)})).records == region.skus


def test_the_list_stands_in_for_the_regions_own(tmp_path: Path) -> None:
    listed = read(written(tmp_path, [AZ_D4S_V3, changed(name="Standard_Unheard1", size="Unheard1")]))
    region = Catalogue.load().with_region(listed.catalogue()).region("eastus")
    assert list(region.by_name) == ["Standard_D4s_v3", "Standard_Unheard1"]
    assert dict(region.prices) == {"Standard_D4s_v3": 0.192}
    assert region.zones == ("1", "2", "3")
    assert region.guessed("Standard_D4s_v3") == {}
    assert region.source.endswith("skus.json")


def test_one_region_of_several_is_chosen(tmp_path: Path) -> None:
    path = written(
        tmp_path, [AZ_D4S_V3, changed(locations=["westus"], locationInfo=[{"location": "westus", "zones": []}])]
    )
    assert [record["locations"] for record in read(path, "westus").records] == [["westus"]]
    with pytest.raises(SkuFileError, match=r"holds 2 regions \(eastus, westus, …\); say which one with --region"):
        read(path)
    with pytest.raises(SkuFileError, match="has no sizes of 'westuss'; it has westus, eastus"):
        read(path, "westuss")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", ": the file is empty"),
        (" \n\t", ": the file is empty"),
        (b"\x89PNG\r\n\x1a\n\x00", ": not text: byte 0 is not UTF-8"),
        (b"[]\x00", ": not text: it holds NUL bytes"),
        ("resourceType  Locations\n-----\n", ":1:1: not JSON: Expecting value"),
        ('[{"name": "a",\n  }]', ":2:3: not JSON: Expecting property name enclosed in double quotes"),
        ('[{"a": 1}, {"a": 2}', ":1:20: not JSON: Expecting ',' delimiter"),
        ("[1, NaN]", ": not JSON: NaN is no JSON number"),
        pytest.param("[" * 100_000, ": not a SKU list: nested too deep", id="deep"),
        ("[]", ": the list is empty"),
        ({"value": []}, ": the list is empty"),
        ({}, ": not a SKU list: an object without `value`; give the output of az vm list-skus -o json"),
        ("42", ": not a SKU list: a list is needed, this is a number"),
        ("null", ": not a SKU list: a list is needed, this is null"),
        ({"value": {"a": 1}}, ": not a SKU list: a list is needed, this is an object"),
        (
            {"value": [AZ_D4S_V3], "nextLink": "https://management.azure.com/next"},
            ": one page of several (it has a nextLink); az vm list-skus -o json gives all of them",
        ),
        ([DISK], ": no virtual machine sizes among its 1 entries (resourceType virtualMachines)"),
        ("[\n 1]", ":2:2: [0]: an object is needed, this is a number"),
        ('[\n {"name": "x"}]', ":2:2: [0].resourceType: missing"),
        (
            '{"nextLink": null,\n "value": [{"resourceType": 3}]}',
            ":2:12: [0].resourceType: text is needed, this is a number",
        ),
        ('[{"name": "x"}]', ":1:2: [0].resourceType: missing"),
        ('[{"resourceType": "disks"},7]', ":1:28: [1]: an object is needed, this is a number"),
        ('{"value":[{"resourceType":3}]}', ":1:11: [0].resourceType: text is needed, this is a number"),
        ([changed(name="")], ":2:3: [0].name: missing"),
        ([changed(name=7)], ":2:3: [0].name: text is needed, this is a number"),
        ([changed(family=["a"])], ":2:3: [0].family: text is needed, this is a list"),
        ([changed(locations=[])], ":2:3: [0].locations: missing"),
        ([changed(locations="eastus")], ":2:3: [0].locations: a list is needed, this is text"),
        ([changed(locations=[1])], ":2:3: [0].locations[0]: text is needed, this is a number"),
        ([changed(locationInfo=[{"zones": []}])], ":2:3: [0].locationInfo[0].location: missing"),
        ([changed(capabilities={"vCPUs": "4"})], ":2:3: [0].capabilities: a list is needed, this is an object"),
        ([changed(capabilities=["vCPUs"])], ":2:3: [0].capabilities[0]: an object is needed, this is text"),
        (
            [changed(capabilities=[{"name": "vCPUs", "value": 4}])],
            ":2:3: [0].capabilities[0].value: text is needed, this is a number",
        ),
        (
            [changed(capabilities=[{"name": "vCPUs", "value": "four"}])],
            ":2:3: [0].capabilities.vCPUs: a whole number is needed, this is 'four'",
        ),
        (
            [changed(capabilities=[{"name": "MemoryGB", "value": "-1"}])],
            ":2:3: [0].capabilities.MemoryGB: a number is needed, this is '-1'",
        ),
        (
            [changed(capabilities=[{"name": "MemoryGB", "value": "1.5.2"}])],
            ":2:3: [0].capabilities.MemoryGB: a number is needed, this is '1.5.2'",
        ),
        ([changed(restrictions=[{"values": []}])], ":2:3: [0].restrictions[0].type: missing"),
        ([AZ_D4S_V3, AZ_D4S_V3], ": Standard_D4s_v3 is listed twice for eastus"),
    ],
)
def test_a_malformed_file_gets_one_clear_line(tmp_path: Path, content: Any, line: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(SkuFileError) as refusal:
        read(path)
    assert str(refusal.value) == f"{path}{line}"


def test_the_place_is_that_of_the_entry_at_fault(tmp_path: Path) -> None:
    path = written(
        tmp_path, '{"other": [1, {"value": 2}],\n "value": [{"resourceType": "disks"},\n\n   {"resourceType": []}]}'
    )
    with pytest.raises(SkuFileError) as refusal:
        read(path)
    assert str(refusal.value) == f"{path}:4:4: [1].resourceType: text is needed, this is a list"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SkuFileError, match="No such file or directory"):
        read(tmp_path / "absent.json")
    with pytest.raises(SkuFileError, match="is a folder, not a file"):
        read(tmp_path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)  # sparse: takes no room
    with pytest.raises(SkuFileError, match="314,572,800 bytes, more than a SKU list can have; list one region"):
        read(path)
