"""The command that makes the package data: deterministic, says what it changes, and is clear when a file is missing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fakeazure.catalog.tables import read, sizes
from tools.catalogue import changes, documents, main
from tools.price_rows import PRICE_FILE_COLUMNS, arm_size, known_sizes, rows_document
from tools.sku_records import flips, kin_of, nearest_families, order_of, renumbered

Json = dict[str, Any]
SPOT, ULTRA = "LowPriorityCapable", "UltraSSDAvailable"
REDHAT, PROVIDER = "RHEnVision/provisioning-backend", "karpenter-provider-azure v1.14.0"


def size(name: str, family: str, **more: Any) -> Json:
    """A record without a region, of the day."""
    capabilities = more.pop("capabilities", {"vCPUs": "2", SPOT: "True"})
    return {"size": name, "family": family, "date": "2026-06-15", "capabilities": capabilities, **more}


def zone(name: str, region: str, zones: str, date: str = "2023-08-09", source: str = REDHAT) -> Json:
    """Where a size is sold."""
    return {"size": name, "region": region, "zones": list(zones), "date": date, "source": source}


def write(path: Path, records: Iterable[Json]) -> None:
    """A file of records."""
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


TODAY = [
    size("Standard_D2s_v3", "dsv3"),
    size("Standard_D2s_v5", "dsv5", capabilities={"vCPUs": "2", "MemoryGB": "8", SPOT: "False", ULTRA: "True"}),
    size("Standard_D2s_v6", "dsv6"),
]
HISTORY = [
    {**TODAY[0], "firstSeen": "2025-04-07", "was": []},
    {**TODAY[1], "firstSeen": "2025-04-07", "was": [["2025-05-03", SPOT, "False"], ["2026-06-08", SPOT, "True"]]},
    {**TODAY[2], "firstSeen": "2026-02-02", "was": [["2026-06-15", "vCPUs", "4"]]},
    {**size("Standard_A0", "a"), "date": "2025-10-20", "firstSeen": "2025-04-07", "was": []},
]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Files of four sizes and two regions."""
    folder = tmp_path / "tables"
    (folder / "recorded").mkdir(parents=True)
    write(folder / "recorded/sku-capabilities-2026-06-15.jsonl.gz", TODAY)
    write(folder / "recorded/sku-capabilities-history.jsonl.gz", HISTORY)
    regional = {"region": "eastus", "date": "2025-06-03", "source": PROVIDER, "zoneDetails": []}
    stated = [
        {**size("Standard_D2s_v3", "dsv3", capabilities={"vCPUs": "2", ULTRA: "False"}), **regional},
        {**size("Standard_D2s_v5", "dsv5"), **regional},
        {**size("Standard_A0", "a"), **regional},
    ]
    write(folder / "recorded/sku-records-regional.jsonl.gz", stated)
    write(
        folder / "recorded/sku-zones.jsonl.gz",
        [
            zone("Standard_D2s_v3", "eastus", "31"),
            zone("Standard_D2s_v3", "eastus", "1", "2023-02-20"),
            zone("Standard_D2s_v3", "eastus", "12", "2025-06-03", PROVIDER),
            zone("Standard_D2s_v5", "eastus", "3", "2025-06-03", PROVIDER),
            zone("Standard_A0", "eastus", "", "2025-06-03", PROVIDER),
            zone("Standard_D2s_v5", "westus2", "2"),
        ],
    )
    with gzip.open(folder / "vm-prices-2026-06-18.csv.gz", "wt") as file:
        file.write(
            "region,sku,usd_per_hour\nwestus,Standard_D2s_v3,0.07\neastus,Standard_D2s_v5,0.096\neastus,Dedicated,9\n"
        )
    with gzip.open(folder / "recorded/retail-vm-rows-2026-08-22.csv.gz", "wt") as file:
        file.write(
            "region,type,product_name,sku_name,meter_name,unit,usd\n"
            "eastus,Consumption,Virtual Machines Dsv5 Series,Standard_D2s_v5,D2s v5,1 Hour,0.096\n"
            "westus,Consumption,Virtual Machines Dsv5 Series,Standard_D2s_v5,D2s v5,1 Hour,0.1\n"
            "eastus,Consumption,Dsv5 Series Dedicated Host,Dsv5 Type1,Dsv5 Type1,1 Hour,4\n"
        )
    with gzip.open(folder / "recorded/vm-prices-polandcentral-2026-01-26.csv.gz", "wt") as file:
        file.write(f"size,{','.join(PRICE_FILE_COLUMNS)}\nStandard_D2s_v5,0.12,0.02,,,,,0.2,\n")
    return folder


def test_the_same_files_give_the_same_bytes(tables: Path, tmp_path: Path) -> None:
    for target in ("first", "second"):
        assert main([str(tables), "--target", str(tmp_path / target)]) == 0
    written = sorted((tmp_path / "first").iterdir())
    assert [file.name for file in written] == [
        "history.json.gz",
        "price-file.json.gz",
        "prices.json.gz",
        "retail-rows.json.gz",
        "sizes.json.gz",
        "zones.json.gz",
    ]
    for file in written:
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()


def test_a_size_has_the_days_capabilities_in_arms_order_but_ultra_disks(tables: Path) -> None:
    document = documents(tables)["sizes.json.gz"]
    rows = {
        row[0]: (document["families"][row[1]], {document["pairs"][ord(one) - document["letters"]] for one in row[2]})
        for row in document["sizes"]
    }
    assert rows["Standard_D2s_v5"] == ("dsv5", {("vCPUs", "2"), ("MemoryGB", "8"), (SPOT, "False")})
    assert list(rows) == ["Standard_D2s_v3", "Standard_D2s_v5", "Standard_D2s_v6"]
    assert [name for name, _ in document["pairs"]] == ["vCPUs", "MemoryGB", SPOT, SPOT]


def test_ultra_disks_are_those_of_the_last_list_that_tells_else_of_the_nearest_family(tables: Path) -> None:
    document = documents(tables)["sizes.json.gz"]
    recorded, like = -1, document["families"].index("dsv5")
    assert {row[0]: (row[3], row[4]) for row in document["sizes"]} == {
        "Standard_D2s_v3": ("False", recorded),
        "Standard_D2s_v5": ("True", recorded),  # where others are stated it was not, before it was
        "Standard_D2s_v6": ("True", like),
    }


def test_what_flips_is_regional(tables: Path) -> None:
    document = documents(tables)["sizes.json.gz"]
    assert document["spot"] == {
        "regional": ["Standard_D2s_v5"],
        "told": [["eastus", "Standard_D2s_v5", "True", PROVIDER, "2025-06-03"]],
    }
    assert flips(HISTORY[1], SPOT)
    assert not flips(HISTORY[2], "vCPUs")  # changed once


def test_zones_are_one_subscriptions_and_others_in_its_numbers(tables: Path) -> None:
    document = documents(tables)["zones.json.gz"]
    assert document["names"] == ["Standard_D2s_v3", "Standard_D2s_v5"]
    assert document["regions"] == {"eastus": "5.", "westus2": ".2"}
    # 1 and 2 are called 1 and 3 here, so that 3 is 2
    assert document["others"] == {"eastus": [[PROVIDER, "2025-06-03", {"Standard_A0": "0", "Standard_D2s_v5": "2"}]]}
    assert document["like"]["eastus"] == {"dsv5": "dsv3", "dsv6": "dsv3"}


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        ({"a": "12", "b": "3", "x": "1"}, {"a": "12", "b": "3"}, {}),  # 1 may be either
        ({"a": "12", "b": "3", "x": "3", "y": "12"}, {"a": "23", "b": "1"}, {"x": "1", "y": "23"}),
        (
            {"a": "12", "b": "1", "x": "2", "y": "123", "z": ""},
            {"a": "12", "b": "3"},
            {"y": "123", "z": ""},
        ),  # contradict
    ],
)
def test_a_view_is_renumbered_where_the_numbers_are_sure(
    theirs: dict[str, str], ours: dict[str, str], told: dict[str, str]
) -> None:
    found = renumbered(
        {name: tuple(zones) for name, zones in theirs.items()}, {name: tuple(zones) for name, zones in ours.items()}
    )
    assert {name: "".join(zones) for name, zones in found.items()} == told


@pytest.mark.parametrize(
    ("asked", "known", "near"),
    [
        ("Standard_D4s_v7", ["Standard_D4s_v5", "Standard_D4s_v3"], "Standard_D4s_v5"),
        ("Standard_D4ds_v6", ["Standard_D4s_v5", "Standard_D4ds_v5"], "Standard_D4ds_v5"),
        ("Standard_D4as_v6", ["Standard_D4s_v5"], None),  # other hardware
        ("Standard_D4s_v3", ["Standard_D4s_v5"], None),  # newer
        ("Standard_NC24ads_A100_v4", ["Standard_NC8ads_A10_v4"], None),
    ],
)
def test_the_nearest_family_is_of_the_same_hardware_and_not_newer(
    asked: str, known: list[str], near: str | None
) -> None:
    kin = {name: kin_of(name) for name in (asked, *known)}
    assert nearest_families(kin, dict.fromkeys(known, "1")).get(asked) == near


def test_contradicting_orders_are_refused() -> None:
    with pytest.raises(ValueError, match="no one order of capabilities: a, b"):
        order_of([{"capabilities": {"a": "", "b": ""}}, {"capabilities": {"b": "", "a": ""}}])


def test_history_keeps_what_the_day_does_not_have(tables: Path) -> None:
    document = documents(tables)["history.json.gz"]
    assert document["seen"] == {
        "Standard_D2s_v6": ["2026-02-02", "2026-06-15"],
        "Standard_A0": ["2025-04-07", "2025-10-20"],
    }
    assert document["values"]["Standard_D2s_v6"] == {"vCPUs": [("2026-02-02", "4"), ("2026-06-15", "2")]}
    assert document["others"] == {"Standard_A0": ["a", {"vCPUs": "2", SPOT: "True"}]}


def test_prices_keep_the_spelling_of_the_table(tables: Path) -> None:
    assert documents(tables)["prices.json.gz"] == {
        "date": "2026-06-18",
        "names": ["Dedicated", "Standard_D2s_v3", "Standard_D2s_v5"],
        "regions": {"eastus": "9,,0.096", "westus": ",0.07,"},
    }


def test_rows_stand_once_with_the_prices_of_all_regions(tables: Path) -> None:
    made = documents(tables)
    assert made["retail-rows.json.gz"] == {
        "source": "andy-diericks/azure-pricing-radar",
        "date": "2026-08-22",
        "regions": ["eastus", "westus"],
        "products": ["Dsv5 Series Dedicated Host", "Virtual Machines Dsv5 Series"],
        "rows": [
            [0, "Dsv5 Type1", "", "Dsv5_Type1", "4,"],
            [1, "Standard_D2s_v5", "D2s v5", "Standard_D2s_v5", "0.096,0.1"],
        ],
    }
    file = made["price-file.json.gz"]
    assert (file["region"], file["date"]) == ("polandcentral", "2026-01-26")
    assert file["sizes"] == {"Standard_D2s_v5": "0.12,0.02,,,,,0.2,"}


def test_a_row_of_another_unit_is_refused(tables: Path) -> None:
    path = tables / "recorded/retail-vm-rows-2026-08-22.csv.gz"
    with gzip.open(path, "at") as file:
        file.write("eastus,Reservation,Virtual Machines Dsv5 Series,D2s v5,D2s v5,1 Hour,500\n")
    with pytest.raises(ValueError, match="no price of an hour's use"):
        rows_document(path, [])


@pytest.mark.parametrize(
    ("product", "sku", "size"),
    [
        ("Virtual Machines Dldsv5 Series", "D16lds v5 Spot", "Standard_D16lds_v5"),
        ("Dasv5 Series Cloud Services", "Standard_D4as_v5 Low Priority", "Standard_D4as_v5"),
        ("DCsv3 Series Linux", "standard_DC8s_v3", "Standard_DC8s_v3"),
        ("DCdsv3 Series Linux", "standard_D24ds_v3", "Standard_DC24ds_v3"),  # the product has the letters right
        ("Virtual Machines DCadsv6 series", "DC2adsv6", "Standard_DC2ads_v6"),
        ("Virtual Machines NCasT4 v3 Series", "NC16asT4 v3", "Standard_NC16as_T4_v3"),
        ("Virtual Machines NCadsH100v5 Series", "NC40adsH100v5 Spot", "Standard_NC40ads_H100_v5"),
        ("Virtual Machines NDsH100v5 Series", "ND96isnIBH100v5", "Standard_ND96is_noIB_H100_v5"),
        ("Virtual Machines NCdsxlRTX6kv6", "NC36dsxlRTX6k v6", "Standard_NC36ds_xl_RTXPRO6000BSE_v6"),
        ("Virtual Machines NGadsV620v1 Series", "NG8adsV620", "Standard_NG8ads_V620_v1"),
        ("Virtual Machines Mdsv3 Medium Memory Series Linux", "M12-6ds v3", "Standard_M12ds-6_v3"),
        ("Virtual Machines A Series Basic", "A1 Low Priority", "Basic_A1"),
        ("Virtual Machines A Series Basic Windows", "A1", "Basic_A1"),
        ("Virtual Machines A Series", "A1", "Standard_A1"),
        ("Virtual Machines Dv2 promo Series Windows", "D2 v2", "Standard_D2_v2_Promo"),
        ("Virtual Machines H Promo Series", "H8 Promo", "Standard_H8_Promo"),
        ("Dsv3 Series Dedicated Host", "Dsv3 Type3", "Dsv3_Type3"),
        ("Dasv6 Series Dedicated Host", "Type 1", "Dasv6_Type1"),
        ("Virtual Machines Laosv9 Series", "L2aosv9", "Standard_L2aos_v9"),  # no list has it
    ],
)
def test_a_rows_size_follows_from_its_product_and_sku(product: str, sku: str, size: str) -> None:
    known = known_sizes([*sizes(), *read("prices.json.gz")["names"], *read("history.json.gz")["others"]])
    assert arm_size(product, sku, known) == size


def test_what_changes_is_printed(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = documents(tables)
    assert main([str(tables), "--target", str(tmp_path / "out")]) == 0
    changed = [{**TODAY[0], "capabilities": {"vCPUs": "4", SPOT: "True"}}, *TODAY[1:]]
    write(tables / "recorded/sku-capabilities-2026-06-15.jsonl.gz", changed)
    capsys.readouterr()
    assert main([str(tables), "--target", str(tmp_path / "out"), "--check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "sizes.json.gz: 0 more, 0 gone, 1 changed",
        "  vCPUs changed: 1, for example Standard_D2s_v3",
    ]
    assert list(changes(before, before)) == []
    less = {**before, "prices.json.gz": {**before["prices.json.gz"], "regions": {"westus": ",0.07,"}}}
    assert list(changes(before, less)) == [
        "prices.json.gz: 0 more, 2 gone, 0 changed",
        "  price gone: 2, for example eastus Dedicated; eastus Standard_D2s_v5",
    ]


def test_a_missing_file_is_exit_code_2(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tables / "recorded/sku-zones.jsonl.gz").unlink()
    assert main([str(tables), "--target", str(tmp_path / "out")]) == 2
    assert "sku-zones.jsonl.gz" in capsys.readouterr().err


def test_two_price_tables_are_one_too_many(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tables / "vm-prices-2026-07-01.csv.gz").write_bytes(b"")
    assert main([str(tables), "--target", str(tmp_path / "out")]) == 2
    assert "2 files match vm-prices-*.csv.gz, one is needed" in capsys.readouterr().err
