"""What commands print and read, to the letter: columns, defaults, places of mistakes, files that are just small enough."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from fakeazure.catalog import Catalogue, importer
from fakeazure.catalog.importer import SkuFileError, read
from fakeazure.catalog.regions import REGIONS
from fakeazure.catalog.tables import told_spot
from fakeazure.cli import run
from fakeazure.commands import refresh
from fakeazure.commands.serve import add_arguments
from fakeazure.commands.values import host_and_port, whole
from tests.catalog.test_import_skus import AZ_D4S_V3, changed, written
from tests.catalog.test_imports import ITEMS, USAGES

Output = pytest.CaptureFixture[str]


def test_the_table_of_regions(capsys: Output) -> None:
    assert run(["regions"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    found = {line.split()[0]: line for line in lines}
    assert header == "REGION              ZONES  SIZES  RECORDED"
    assert found["southcentralus"] == "southcentralus      1,2,3   1355       319"
    assert found["swedensouth"].split()[1] == "-?"
    assert [name for name, line in found.items() if "?" in line] == ["swedensouth"]


def test_zones_that_are_guessed_are_told_as_json(capsys: Output) -> None:
    assert run(["regions", "--format", "json"]) == 0
    found = {one["name"]: one["zonesGuessed"] for one in json.loads(capsys.readouterr().out)}
    assert [name for name, guessed in found.items() if guessed] == ["swedensouth"]


def test_of_which_regions_ultra_disks_are_recorded() -> None:
    recorded = {name for name, region in REGIONS.items() if "UltraSSDAvailable" not in region.guessed}
    assert recorded == {"southcentralus", "westcentralus", "eastus"}


def test_spot_is_told_by_region() -> None:
    everywhere = [told_spot(region) for region in REGIONS]
    assert any(everywhere)
    sources = {source.name for found in everywhere for _, source in found.values()}
    assert sources
    assert told_spot("nowhere") == {}


def test_columns_of_numbers_are_flush_right(capsys: Output) -> None:
    assert run(["skus", "--region", "eastus", "--size", "Standard_NC*A100*"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    for column in ("VCPU", "GIB", "GPU", "USD/H"):
        end = header.index(column) + len(column)
        assert all(line[end - 1].isdigit() and line[end : end + 1] in ("", " ") for line in lines), column


def test_equal_prices_are_in_order_of_their_regions(capsys: Output) -> None:
    assert run(["prices", "--size", "Standard_D2s_v3", "--format", "json"]) == 0
    found = list(json.loads(capsys.readouterr().out).items())
    assert found == sorted(found, key=lambda item: (item[1], item[0]))


@pytest.mark.parametrize("text", ["1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4"])
def test_ports_that_there_are_not(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="HOST:PORT is expected"):
        host_and_port(text)


@pytest.mark.parametrize("text", ["1.2.3.4:1", "1.2.3.4:65535", "[::1]:6443"])
def test_ports_that_there_are(text: str) -> None:
    assert host_and_port(text) == text


def test_whole_numbers_are_within_their_bounds() -> None:
    number = whole(-1, 5)
    assert [number(text) for text in ("-1", "0", "5")] == [-1, 0, 5]
    assert isinstance(number("5"), int)
    for text in ("-2", "6", "x", "1.0", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="a number from -1 to 5 is expected"):
            number(text)


def test_defaults_of_serve() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args([])
    assert (options.speed, options.retry_after, options.mode) == (1.0, 1, "aksscriptless")


@pytest.mark.parametrize(
    "arguments", [["import-prices", "x"], ["refresh", "-o", "x"], ["refresh", "--region", "eastus"]]
)
def test_what_has_to_be_said(arguments: list[str], capsys: Output) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("fakeazure")
    assert "the following arguments are required" in printed


def test_restricted_sizes_are_counted(tmp_path: Path, capsys: Output) -> None:
    open_ = changed(name="Standard_D2s_v3", size="D2s_v3", restrictions=[])
    assert run(["import-skus", str(written(tmp_path, [AZ_D4S_V3, open_]))]) == 0
    assert "2 sizes, 1 with restrictions" in capsys.readouterr().out


def test_nothing_is_guessed_of_an_imported_list(tmp_path: Path) -> None:
    region = read(written(tmp_path, [AZ_D4S_V3])).catalogue()
    assert (region.guessed("Standard_D4s_v3"), region.sources("Standard_D4s_v3")) == ({}, {})


def test_a_provider_of_which_nothing_is_served(capsys: Output) -> None:
    assert run(["coverage", "--provider", "Microsoft.Netwrk"]) == 2
    assert capsys.readouterr().err.endswith("; did you mean 'Microsoft.Network'?\n")
    assert run(["coverage", "--provider", "zzzz"]) == 2
    assert capsys.readouterr().err.endswith("; fakeazure coverage lists all\n")


def test_the_largest_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, [AZ_D4S_V3])
    size = path.stat().st_size
    monkeypatch.setattr(importer, "LARGEST", size)
    assert read(path).region == "eastus"
    monkeypatch.setattr(importer, "LARGEST", size - 1)
    with pytest.raises(SkuFileError, match=f"{size:,} bytes, more than a SKU list can have"):
        read(path)


def test_a_region_that_the_list_does_not_have(tmp_path: Path) -> None:
    names = [f"region{letter}" for letter in "abcde"]
    entries = [
        changed(locations=[name], locationInfo=[{"location": name, "zones": [], "zoneDetails": []}], restrictions=[])
        for name in names
    ]
    with pytest.raises(SkuFileError, match=r"has no sizes of 'zzz'; it has regiona, regionb, regionc, regiond$"):
        read(written(tmp_path, entries), "zzz")


@pytest.mark.parametrize(("before", "line", "column"), [("", 1, 2), ("\n", 2, 2), ("\n ", 2, 3), (" ", 1, 3)])
def test_where_a_wrong_entry_begins(before: str, line: int, column: int, tmp_path: Path) -> None:
    path = written(tmp_path, before + json.dumps([changed(name=5)]))
    with pytest.raises(SkuFileError) as failed:
        read(path)
    assert str(failed.value).startswith(f"{path}:{line}:{column}: ")


def test_where_a_wrong_entry_begins_behind_other_keys(tmp_path: Path) -> None:
    text = json.dumps({"a": 1, "nextLink": None, "value": [changed(name=5)]}, separators=(",", ":"))
    path = written(tmp_path, text)
    with pytest.raises(SkuFileError) as failed:
        read(path)
    assert str(failed.value).startswith(f"{path}:1:{text.index('[') + 2}: ")


def test_a_mistake_of_yaml_is_where_the_text_goes_wrong(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "market.yaml"
    path.write_text("quota:\n  cores: [1, 2\nprices: {}\n")
    assert run(["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1", "--market", str(path)]) == 2
    assert f"{path}:3:7: neither JSON nor YAML: " in capsys.readouterr().err


def test_a_refresh_makes_its_folder_and_writes_into_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(*arguments: str) -> list[Any]:
        return [AZ_D4S_V3] if "list-skus" in arguments else USAGES

    monkeypatch.setattr(refresh, "_az", answered)
    monkeypatch.setattr(refresh, "_prices", lambda *_: ITEMS)
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        assert run(["refresh", "--region", "eastus", "-o", str(folder)]) == 0
    assert [one["name"] for one in json.loads((folder / "skus.json").read_text())["value"]] == ["Standard_D4s_v3"]


def test_every_region_has_a_list_of_prices() -> None:
    catalogue = Catalogue.load()
    assert all(catalogue.region(name).prices for name in catalogue.regions)
