"""Makes the package data of the catalogue from the public tables: `python -m fakeazure.catalog.build --tables DIR`.

DIR (or the environment variable HARNESS_DATA) holds `known-skus.csv` (sku, family), `vm-sizes.csv` (sku, family, vcpus,
memory_mib, gpus, arch), `vm-prices-*.csv.gz` (region, sku, usd_per_hour) and `sku-samples-*.json` (`{"value": […]}`,
complete records); `releases/v1.4.0.json.gz` and `releases/v1.14.0.json.gz` add recorded zones and restrictions. The same
tables give the same bytes. See `data/README.md`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fakeazure.catalog.synthesis import Description, SizeRow, describe

DATA = Path(__file__).parent / "data"

MEMORY_MIB: dict[str, int] = {
    # The table of sizes truncates to whole GiB; Microsoft's size pages (and the sample of M8-2ms) have the fraction.
    "Standard_B1ls": 512,
    "Standard_D1": 3584,
    "Standard_D1_v2": 3584,
    "Standard_DS1": 3584,
    "Standard_DS1_v2": 3584,
    "Standard_M8-2ms": 224_000,
    "Standard_M8-4ms": 224_000,
    "Standard_M8ms": 224_000,
    "Standard_M16-4ms": 448_000,
    "Standard_M16-8ms": 448_000,
    "Standard_M16ms": 448_000,
}
VCPUS: dict[str, int] = {
    # The table says 80; its parent F64ams_v7 and its sibling F64-32ams_v7 have 64.
    "Standard_F64-16ams_v7": 64,
}
REGIONAL_CAPABILITIES = frozenset({"UltraSSDAvailable", "RetirementDateUtc"})
"""Capabilities that differ between the recorded regions, so that a recorded value does not hold elsewhere."""


def read_rows(tables: Path) -> dict[str, SizeRow]:
    """The sizes known to the provider and described by the table of sizes, corrected, by name."""
    with (tables / "known-skus.csv").open(newline="") as file:
        known = {line["sku"]: line["family"] for line in csv.DictReader(file)}
    with (tables / "vm-sizes.csv").open(newline="") as file:
        return {
            name: SizeRow(
                name,
                known[name],
                VCPUS.get(name, int(line["vcpus"])),
                MEMORY_MIB.get(name, int(line["memory_mib"])),
                int(line["gpus"]),
                line["arch"],
            )
            for line in csv.DictReader(file)
            if (name := line["sku"]) in known
        }


def read_prices(tables: Path) -> dict[str, dict[str, str]]:
    """region → size → USD per hour, as the table spells the number."""
    prices: dict[str, dict[str, str]] = {}
    with gzip.open(_only(tables, "vm-prices-*.csv.gz"), "rt", newline="") as file:
        for line in csv.DictReader(file):
            prices.setdefault(line["region"], {})[line["sku"]] = line["usd_per_hour"]
    return prices


def read_records(tables: Path) -> list[dict[str, Any]]:
    """The recorded samples; a restriction that the sample only mentions comes from the release's own records."""
    records = json.loads(_only(tables, "sku-samples-*.json").read_text("utf-8"))["value"]
    full = {
        (location, sku["name"]): sku
        for location, listed in _release(tables, "v1.14.0").items()
        for sku in listed["skus"]
    }
    for record in records:
        if record.pop("_restrictions_present", False):
            record["restrictions"] = full[record["locations"][0], record["name"]]["restrictions"]
    return list(records)


def read_zones(tables: Path, recorded: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """region → size → zones, from records of regions that have no complete sample."""
    return {
        location: {sku["name"]: sorted(sku["locationInfo"][0]["zones"]) for sku in listed["skus"]}
        for location, listed in sorted(_release(tables, "v1.4.0").items())
        if location not in recorded
    }


def sizes_document(rows: Mapping[str, SizeRow], records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sizes' capabilities, pairs and guess sets stored once: recorded where there is a record, else derived."""
    recorded: dict[str, tuple[tuple[str, str], ...]] = {}
    for record in records:
        recorded[record["name"]] = tuple(
            (pair["name"], pair["value"])
            for pair in record["capabilities"]
            if pair["name"] not in REGIONAL_CAPABILITIES
        )
    pairs: dict[tuple[str, str], int] = {}
    guess_sets: dict[tuple[str, ...], int] = {}
    sizes = []
    for name in sorted(rows):
        said = describe(rows[name])
        if name in recorded:
            said = Description(recorded[name], frozenset(), said.ultra, said.zonal)
        sizes.append(
            [
                name,
                rows[name].family,
                [pairs.setdefault(pair, len(pairs)) for pair in said.capabilities],
                guess_sets.setdefault(tuple(sorted(said.guessed)), len(guess_sets)),
                said.ultra,
                int(said.zonal),
            ]
        )
    return {"pairs": list(pairs), "guesses": list(guess_sets), "sizes": sizes}


def prices_document(prices: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """All prices as one comma-separated text per region, in the order of `names`; empty = not sold there."""
    names = sorted(set().union(*prices.values()))
    return {
        "names": names,
        "regions": {region: ",".join(sold.get(name, "") for name in names) for region, sold in sorted(prices.items())},
    }


def build(tables: Path, target: Path = DATA) -> dict[str, int]:
    """Writes the data files into `target`; returns file name → size in bytes. OSError or KeyError if a table is amiss."""
    rows, prices, records = read_rows(tables), read_prices(tables), read_records(tables)
    sold = set().union(*prices.values())
    zones = read_zones(tables, {record["locations"][0] for record in records})
    documents = {
        "sizes.json.gz": sizes_document({name: row for name, row in rows.items() if name in sold}, records),
        "prices.json.gz": prices_document(prices),
        "recorded.json.gz": {"records": records, "zones": zones},
    }
    target.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, document in documents.items():
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        content = gzip.compress(text.encode(), 9, mtime=0)
        # The header's operating-system byte depends on the Python version.
        content = content[:9] + b"\xff" + content[10:]
        (target / name).write_bytes(content)
        written[name] = len(content)
    return written


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise FileNotFoundError(f"{folder}: {len(found)} files match {pattern}, one is needed")
    return found[0]


def _release(tables: Path, release: str) -> dict[str, Any]:
    with gzip.open(tables / "releases" / f"{release}.json.gz", "rt") as file:
        locations: dict[str, Any] = json.load(file)["locations"]
    return locations


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit code 0, or 2 when the tables are not there."""
    parser = argparse.ArgumentParser(prog="python -m fakeazure.catalog.build", description=__doc__)
    parser.add_argument("--tables", default=os.environ.get("HARNESS_DATA"), help="folder of the public tables")
    parser.add_argument("--target", type=Path, default=DATA, help="where to write (default: the package's data)")
    options = parser.parse_args(arguments)
    if not options.tables:
        parser.error("where are the tables? give --tables DIR or set HARNESS_DATA")
    try:
        written = build(Path(options.tables), options.target)
    except OSError as error:
        print(f"fakeazure: {error}", file=sys.stderr)
        return 2
    for name, size in written.items():
        print(f"{size:>9,} bytes  {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
