"""The command that makes the package data: deterministic, corrected, and clear when a table is missing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fakeazure.catalog import build
from fakeazure.catalog.catalogue import recorded_skus


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Tables of three sizes and two regions."""
    folder = tmp_path / "tables"
    (folder / "releases").mkdir(parents=True)
    (folder / "known-skus.csv").write_text(
        "sku,family\nStandard_D1_v2,standardDv2Family\nStandard_D2s_v3,standardDSv3Family\nStandard_Unpriced1,x\n"
    )
    (folder / "vm-sizes.csv").write_text(
        "sku,family,vcpus,memory_mib,gpus,arch\n"
        "Standard_D2s_v3,standardDSv3Family,2,8192,0,amd64\n"
        "Standard_D1_v2,standardDv2Family,1,3072,0,amd64\n"
        "Standard_Unknown1,y,1,1024,0,amd64\n"
    )
    with gzip.open(folder / "vm-prices-2026-06-18.csv.gz", "wt") as file:
        file.write(
            "region,sku,usd_per_hour\nwestus,Standard_D1_v2,0.07\neastus,Standard_D2s_v3,0.096\neastus,Dedicated,9\n"
        )
    a0 = dict(recorded_skus("westcentralus")[0])
    samples = [{**a0, "restrictions": [], "_restrictions_present": True}]
    (folder / "sku-samples-2025-06-03.json").write_text(json.dumps({"value": samples}))
    for release, locations in (
        ("v1.4.0", {"eastus": {"skus": [{**a0, "locationInfo": [{"location": "eastus", "zones": ["2", "1"]}]}]}}),
        ("v1.14.0", {"westcentralus": {"skus": [a0]}}),
    ):
        with gzip.open(folder / "releases" / f"{release}.json.gz", "wt") as file:
            json.dump({"locations": locations}, file)
    return folder


def read(path: Path) -> dict[str, object]:
    """A written document."""
    document: dict[str, object] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def test_the_same_tables_give_the_same_bytes(tables: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert build.build(tables, first) == build.build(tables, second)
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes()


def test_sizes_are_those_that_are_known_described_and_sold(tables: Path, tmp_path: Path) -> None:
    build.build(tables, tmp_path / "out")
    document = read(tmp_path / "out" / "sizes.json.gz")
    sizes, pairs = document["sizes"], document["pairs"]
    assert isinstance(sizes, list)
    assert isinstance(pairs, list)
    assert [size[:2] for size in sizes] == [
        ["Standard_D1_v2", "standardDv2Family"],
        ["Standard_D2s_v3", "standardDSv3Family"],
    ]
    assert ["MemoryGB", "3.5"] in [pairs[index] for index in sizes[0][2]]


def test_prices_keep_the_spelling_of_the_table(tables: Path, tmp_path: Path) -> None:
    build.build(tables, tmp_path / "out")
    assert read(tmp_path / "out" / "prices.json.gz") == {
        "names": ["Dedicated", "Standard_D1_v2", "Standard_D2s_v3"],
        "regions": {"eastus": "9,,0.096", "westus": ",0.07,"},
    }


def test_recorded_facts_come_from_the_releases_too(tables: Path, tmp_path: Path) -> None:
    build.build(tables, tmp_path / "out")
    document = read(tmp_path / "out" / "recorded.json.gz")
    assert document["records"] == [recorded_skus("westcentralus")[0]]
    assert document["zones"] == {"eastus": {"Standard_A0": ["1", "2"]}}


def test_a_missing_table_is_exit_code_2(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tables / "vm-sizes.csv").unlink()
    assert build.main(["--tables", str(tables), "--target", str(tmp_path / "out")]) == 2
    assert "vm-sizes.csv" in capsys.readouterr().err


def test_two_price_tables_are_one_too_many(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tables / "vm-prices-2026-07-01.csv.gz").write_bytes(b"")
    assert build.main(["--tables", str(tables), "--target", str(tmp_path / "out")]) == 2
    assert "2 files match vm-prices-*.csv.gz, one is needed" in capsys.readouterr().err
