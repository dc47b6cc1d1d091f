"""Makes the data of `fakeazure.catalog` from the recorded files, and prints what it changes.

    python tools/catalogue.py [DIR] [--date 2026-06-15] [--target DIR] [--check]

DIR (or HARNESS_DATA) holds `vm-prices-*.csv.gz` (region, sku, usd_per_hour) and `recorded/`: `sku-capabilities-DATE.jsonl.gz` of the day
that goes with the prices, `sku-capabilities-history.jsonl.gz`, `sku-records-regional.jsonl.gz`, `sku-zones.jsonl.gz`,
`retail-vm-rows-*.csv.gz` and the `vm-prices-*.csv.gz` of one region. The same files give the same bytes. `--check` writes nothing. What
the files are: `fakeazure/catalog/data/README.md`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools.price_rows import price_file_document, rows_document
from tools.sku_records import (
    SPOT,
    ULTRA,
    ZONES_DATE,
    ZONES_SOURCE,
    flips,
    kin_of,
    lines,
    nearest_families,
    order_of,
    renumbered,
    values_over_time,
)

DATA = Path(__file__).parent.parent / "fakeazure/catalog/data"
SOURCE = "flexera-public/policy_templates"
DATE = "2026-06-15"
FIRST_LETTER = 0x4E00
"""A size's capabilities are a text, a letter for each pair of name and value: quicker to read than a list of numbers."""
RECORDED, NOTHING = -1, -2
"""In place of the family that a value is taken from: some list states it; no list states it, nor of a family near it."""

Document = dict[str, Any]
Zones = dict[str, dict[str, tuple[str, ...]]]


def ultra_disks(history: Sequence[Mapping[str, Any]], regional: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Size → "True", "False" or "" (never stated where others are), by the last list that tells; no other sizes are there."""
    stated: dict[str, str] = {}
    lists: dict[tuple[str, str], dict[str, str]] = {}
    for record in regional:
        pairs = [pair for detail in record["zoneDetails"] for pair in detail["capabilities"]]
        said = {**{pair["name"]: pair["value"] for pair in pairs}, **record["capabilities"]}
        lists.setdefault((record["date"], record["region"]), {})[record["size"]] = said.get(ULTRA, "")
    for _, listed in sorted(lists.items()):
        if any(listed.values()):  # else the list says it of no size
            stated |= listed
    for record in history:
        for _, value in values_over_time(record, ULTRA):
            if value is not None:
                stated[record["size"]] = value
    return stated


def sizes_document(
    snapshot: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]], regional: Sequence[Mapping[str, Any]]
) -> Document:
    """Every size of the snapshot: family, capabilities, ultra disks and what tells of them."""
    order = {name: place for place, name in enumerate(order_of(history))}
    if max(order, key=lambda name: order[name]) != ULTRA:
        raise ValueError(f"ARM lists {ULTRA} last, but not in these files")
    families = sorted({record["family"] for record in history})
    place = {family: index for index, family in enumerate(families)}
    stated = ultra_disks(history, regional)
    of_family = {record["family"]: stated[record["size"]] for record in history if record["size"] in stated}
    near = nearest_families({record["family"]: kin_of(record["size"]) for record in history}, of_family)
    own = [{name: value for name, value in record["capabilities"].items() if name != ULTRA} for record in snapshot]
    pairs = sorted({pair for said in own for pair in said.items()}, key=lambda pair: (order[pair[0]], pair[1]))
    letter = {pair: chr(FIRST_LETTER + number) for number, pair in enumerate(pairs)}
    rows = []
    for record, said in sorted(zip(snapshot, own, strict=True), key=lambda one: one[0]["size"]):
        size, family = record["size"], record["family"]
        like = family if family in of_family else near.get(family)
        ultra, basis = "", NOTHING
        if size in stated:
            ultra, basis = stated[size], RECORDED
        elif like is not None:
            ultra, basis = of_family[like], place[like]
        rows.append([size, place[family], "".join(letter[pair] for pair in said.items()), ultra, basis])
    regional_spot = {record["size"] for record in history if flips(record, SPOT)}
    told = [
        [record["region"], record["size"], record["capabilities"][SPOT], record["source"], record["date"]]
        for record in sorted(regional, key=lambda record: record["date"])
        if record["size"] in regional_spot and record["date"] >= "2023"
    ]
    return {
        "source": SOURCE,
        "date": snapshot[0]["date"],
        "families": families,
        "letters": FIRST_LETTER,
        "pairs": pairs,
        "sizes": rows,
        "spot": {"regional": sorted(regional_spot), "told": told},
    }


def history_document(snapshot: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]) -> Document:
    """What the snapshot does not have: sizes of other dates, when sizes came and went, values of other dates."""
    today = {record["size"] for record in snapshot}
    dates = {record["date"] for record in history} | {record["firstSeen"] for record in history}
    dates |= {date for record in history for date, _, _ in record["was"]}
    first, last = min(dates), max(dates)
    changed = {
        record["size"]: {
            name: values_over_time(record, name) for name in sorted({name for _, name, _ in record["was"]} - {ULTRA})
        }
        for record in history
    }
    return {
        "source": SOURCE,
        "dates": sorted(dates),
        "order": order_of(history),
        "seen": {
            record["size"]: [record["firstSeen"], record["date"]]
            for record in history
            if (record["firstSeen"], record["date"]) != (first, last)
        },
        "values": {size: values for size, values in changed.items() if values},
        "others": {
            record["size"]: [
                record["family"],
                {name: value for name, value in record["capabilities"].items() if name != ULTRA},
            ]
            for record in history
            if record["size"] not in today
        },
    }


def zones_document(records: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]) -> Document:
    """Zones by region and size as bit masks (1: zone 1, 2: zone 2, 4: zone 3; `.`: not listed), and whose zones a family has
    where none of its sizes is listed."""
    families = {record["size"]: record["family"] for record in history}
    kin = {record["family"]: kin_of(record["size"]) for record in history}
    ours, others = _views(records, families)
    names = sorted({size for sizes in ours.values() for size in sizes})
    like = {}
    for region, sizes in ours.items():
        found = nearest_families(kin, {families[size]: zones for size, zones in sizes.items()})
        like[region] = dict(sorted(found.items()))
    return {
        "source": ZONES_SOURCE,
        "date": ZONES_DATE,
        "names": names,
        "regions": {
            region: "".join(_mask(sizes[size]) if size in sizes else "." for size in names)
            for region, sizes in sorted(ours.items())
        },
        "like": like,
        "others": others,
    }


def _views(records: Sequence[Mapping[str, Any]], families: Mapping[str, str]) -> tuple[Zones, Document]:
    """The one subscription's view of each region, and what other subscriptions' add to it."""
    ours: Zones = {}
    views: dict[tuple[str, str], Zones] = {}
    for record in records:
        if record["size"] not in families:
            continue
        zones = tuple(sorted(record["zones"]))
        if record["source"] == ZONES_SOURCE:
            if record["date"] == ZONES_DATE:
                ours.setdefault(record["region"], {})[record["size"]] = zones
        else:
            view = views.setdefault((record["date"], record["source"]), {})
            view.setdefault(record["region"], {})[record["size"]] = zones
    added: Document = {}
    for (date, source), regions in sorted(views.items()):
        for region, view in regions.items():
            if date < "2023":
                continue  # zones were added to most regions since
            if region not in ours:
                continue  # a region without zones
            told = renumbered(view, ours[region])
            if told:
                masks = {size: _mask(zones) for size, zones in sorted(told.items())}
                added.setdefault(region, []).append([source, date, masks])
    return ours, added


def _mask(zones: Sequence[str]) -> str:
    return str(sum(1 << int(zone) - 1 for zone in zones))


def prices_document(path: Path) -> Document:
    """All prices as one comma-separated text per region, in the order of `names`; empty = not sold there."""
    prices: dict[str, dict[str, str]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            prices.setdefault(line["region"], {})[line["sku"]] = line["usd_per_hour"]
    names = sorted(set().union(*prices.values()))
    return {
        "date": path.name.removeprefix("vm-prices-").removesuffix(".csv.gz"),
        "names": names,
        "regions": {region: ",".join(sold.get(name, "") for name in names) for region, sold in sorted(prices.items())},
    }


def documents(folder: Path, date: str = DATE) -> dict[str, Document]:
    """File name → content. Raises OSError or KeyError for a file that lacks something, ValueError if files contradict each other."""
    recorded = folder / "recorded"
    snapshot = list(lines(recorded / f"sku-capabilities-{date}.jsonl.gz"))
    history = list(lines(recorded / "sku-capabilities-history.jsonl.gz"))
    regional = list(lines(recorded / "sku-records-regional.jsonl.gz"))
    zones = list(lines(recorded / "sku-zones.jsonl.gz"))
    prices = prices_document(_one_file(folder, "vm-prices-*.csv.gz"))
    return {
        "sizes.json.gz": sizes_document(snapshot, history, regional),
        "history.json.gz": history_document(snapshot, history),
        "zones.json.gz": zones_document(zones, history),
        "prices.json.gz": prices,
        "retail-rows.json.gz": rows_document(
            _one_file(recorded, "retail-vm-rows-*.csv.gz"), {*prices["names"], *(record["size"] for record in history)}
        ),
        "price-file.json.gz": price_file_document(_one_file(recorded, "vm-prices-*.csv.gz")),
    }


def _one_file(folder: Path, pattern: str) -> Path:
    """The only file of a folder that matches; FileNotFoundError if there is none or another one."""
    matching = sorted(folder.glob(pattern))
    if len(matching) != 1:
        raise FileNotFoundError(f"{folder}: {len(matching)} files match {pattern}, one is needed")
    return matching[0]


def packed(document: Document) -> bytes:
    """A document as it is stored."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    content = gzip.compress(text.encode(), 9, mtime=0)
    return content[:9] + b"\xff" + content[10:]  # the header's operating-system byte depends on the Python version


def changes(before: Mapping[str, Document], after: Mapping[str, Document]) -> Iterator[str]:
    """What becomes different, in lines."""
    for name, document in after.items():
        old = before.get(name)
        if old is None:
            yield f"{name}: new"
            continue
        facts, was = dict(_facts(name, document)), dict(_facts(name, old))
        gone, fresh = was.keys() - facts.keys(), facts.keys() - was.keys()
        other = [key for key in facts.keys() & was.keys() if facts[key] != was[key]]
        if not (gone or fresh or other):
            continue
        yield f"{name}: {len(fresh)} more, {len(gone)} gone, {len(other)} changed"
        for word, keys in (("more", fresh), ("gone", gone), ("changed", other)):
            for kind, count in sorted(Counter(key[0] for key in keys).items()):
                shown = sorted(key[1:] for key in keys if key[0] == kind)[:3]
                yield f"  {kind} {word}: {count}, for example {'; '.join(' '.join(one) for one in shown)}"


def _facts(name: str, document: Document) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The facts of a document by kind and subject."""
    if name == "sizes.json.gz":
        for size, family, letters, ultra, basis in document["sizes"]:
            yield ("size", size), document["families"][family]
            yield (ULTRA, size), (ultra, basis)
            for letter in letters:
                capability, value = document["pairs"][ord(letter) - document["letters"]]
                yield (capability, size), value
    elif name == "zones.json.gz":
        for region, masks in document["regions"].items():
            for size, mask in zip(document["names"], masks, strict=True):
                if mask != ".":
                    yield ("zones", region, size), mask
    elif name == "prices.json.gz":
        for region, text in document["regions"].items():
            for size, price in zip(document["names"], text.split(","), strict=True):
                if price:
                    yield ("price", region, size), price
    elif name == "retail-rows.json.gz":
        for product, sku, meter, size, line in document["rows"]:
            for region, price in zip(document["regions"], line.split(","), strict=True):
                if price:
                    yield ("row", region, document["products"][product], sku, meter), (size, price)
    elif name == "price-file.json.gz":
        for size, line in document["sizes"].items():
            yield ("prices", document["region"], size), line
    else:
        for size, values in document["values"].items():
            for capability, dated in values.items():
                yield (capability, size), [list(one) for one in dated]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit code 0, or 2 when files are missing or wrong."""
    parser = argparse.ArgumentParser(prog="python tools/catalogue.py", description=__doc__)
    parser.add_argument("folder", nargs="?", default=os.environ.get("HARNESS_DATA"), help="default: HARNESS_DATA")
    parser.add_argument("--date", default=DATE, help="which snapshot (default %(default)s)")
    parser.add_argument("--target", type=Path, default=DATA, help="where to write (default: the package's data)")
    parser.add_argument("--check", action="store_true", help="print what would change, write nothing")
    options = parser.parse_args(arguments)
    if not options.folder:
        parser.error("where are the recorded files? name a folder or set HARNESS_DATA")
    try:
        made = documents(Path(options.folder), options.date)
    except (OSError, ValueError) as error:
        print(f"catalogue: {error}", file=sys.stderr)
        return 2
    stored = {
        name: json.loads(zlib.decompress((options.target / name).read_bytes(), wbits=31))
        for name in made
        if (options.target / name).exists()
    }
    for line in changes(stored, made):
        print(line)
    if not options.check:
        options.target.mkdir(parents=True, exist_ok=True)
        for name, document in made.items():
            content = packed(document)
            (options.target / name).write_bytes(content)
            print(f"{len(content):>9,} bytes  {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
