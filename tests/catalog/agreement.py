"""How far the catalogue agrees with the recorded files, per field, region and zone; and the digests by which it is told without them."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakeazure.catalog import Catalogue
from fakeazure.catalog.prices import prices_in
from fakeazure.catalog.prices.rows import LINUX, LINUX_SPOT, kind_of
from fakeazure.catalog.tables import size_source, sizes
from tests.catalog.prices import all_held_out

DIGESTS = Path(__file__).parent / "agreement.json"
DAY = "2026-06-15"
ZONES_DAY = "2023-08-09"
FIRST_LIST = "2025-04-07"
REGIONAL = {
    "UltraSSDAvailable": "differs by region: it flips from week to week in lists without regions",
    "LowPriorityCapable": "differs by region for some sizes, and was given to others later",
}
"""Fields that a list without regions does not tell."""

OF_THE_SUBSCRIPTION = {"CapacityReservationSupported": "depends on the subscription: False in the provider's records"}

Facts = Mapping[str, Mapping[str, str]]
"""Subject (a size, or region and size) → field → value."""


@dataclass(slots=True)
class Count:
    """One field: how many values are the same, other, missing with us, and with us only."""

    same: int = 0
    other: int = 0
    missing: int = 0
    more: int = 0
    examples: list[str] = field(default_factory=list)


def recorded_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def capabilities_of(catalogue_day: str | None = None) -> Facts:
    """Our sizes and their capabilities but for the regional UltraSSDAvailable; the order of names is ARM's."""
    return {
        name: {pair["name"]: pair["value"] for pair in size.capabilities} for name, size in sizes(catalogue_day).items()
    }


def recorded_capabilities(folder: Path) -> Facts:
    """The list of the day."""
    return {
        record["size"]: {name: value for name, value in record["capabilities"].items() if name != "UltraSSDAvailable"}
        for record in recorded_lines(folder / f"sku-capabilities-{DAY}.jsonl.gz")
    }


def zones_of() -> Facts:
    """Our zones by region, of all sizes sold there whose zones are not a guess but the one subscription's."""
    catalogue = Catalogue.load()
    found: dict[str, dict[str, str]] = {}
    for name in catalogue.regions:
        region = catalogue.region(name)
        for size, record in region.by_name.items():
            source = region.sources(size).get("zones")
            if source is not None and source.date == ZONES_DAY:
                found.setdefault(name, {})[size] = ",".join(record["locationInfo"][0]["zones"])
    return found


def recorded_zones(folder: Path) -> Facts:
    """The one subscription's zones by region, of all sizes that are sold there today."""
    catalogue = Catalogue.load()
    found: dict[str, dict[str, str]] = {}
    for record in recorded_lines(folder / "sku-zones.jsonl.gz"):
        ours = record["date"] == ZONES_DAY and record["source"].startswith("RHEnVision/")
        if not ours or record["region"] not in catalogue.regions:
            continue
        if record["size"] in catalogue.region(record["region"]).by_name:
            found.setdefault(record["region"], {})[record["size"]] = ",".join(sorted(record["zones"]))
    return found


def compared(ours: Facts, theirs: Facts) -> dict[str, Count]:
    """Field → how it agrees, over the subjects of either side."""
    counts: dict[str, Count] = {}
    for subject in sorted({*ours, *theirs}):
        mine, real = ours.get(subject, {}), theirs.get(subject, {})
        for name in sorted({*mine, *real}):
            count = counts.setdefault(name, Count())
            if mine.get(name) == real.get(name):
                count.same += 1
                continue
            kind = "missing" if name not in mine else "more" if name not in real else "other"
            setattr(count, kind, getattr(count, kind) + 1)
            count.examples.append(f"{subject}: {mine.get(name)}, recorded {real.get(name)}")
    return counts


def digests(capabilities: Facts, zones: Facts) -> dict[str, Any]:
    """Per field and region how many values there are, and a digest of all; of the order of names, one."""
    fields: dict[str, list[str]] = {}
    for size, said in sorted(capabilities.items()):
        for name, value in said.items():
            fields.setdefault(name, []).append(f"{size}={value}")
    return {
        "day": DAY,
        "sizes": len(capabilities),
        "fields": {name: _digest(lines) for name, lines in sorted(fields.items())},
        "order": _digest(f"{size}={','.join(said)}" for size, said in sorted(capabilities.items())),
        "zones": {
            region: _digest(f"{size}={listed}" for size, listed in sorted(sold.items()))
            for region, sold in sorted(zones.items())
        },
    }


def _digest(lines: Iterable[str]) -> str:
    lines = list(lines)
    return f"{len(lines)} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}"


def regional_differences(folder: Path) -> tuple[int, Counter[tuple[str, str]], list[str]]:
    """Records with a region against our list of that day: equal values, (field, reason) → differences, and those without one."""
    same, reasons, unexplained = 0, Counter[tuple[str, str]](), []
    for record in recorded_lines(folder / "sku-records-regional.jsonl.gz"):
        day, name = record["date"], record["size"]
        mine = _listed(record["region"], name, max(day, FIRST_LIST))
        if not mine:
            reasons["sizes", f"of {day[:4]}, in no list since {FIRST_LIST}"] += 1
            continue
        for key in sorted({*mine, *record["capabilities"]}):
            if mine.get(key) == record["capabilities"].get(key):
                same += 1
                continue
            reason = _reason(key, day)
            if reason:
                reasons[key, reason] += 1
            else:
                unexplained.append(
                    f"{record['region']} {day} {name} {key}: {mine.get(key)}, recorded {record['capabilities'].get(key)}"
                )
    return same, reasons, unexplained


def _listed(region: str, name: str, day: str) -> dict[str, str]:
    """What we say of a size in a region on a day; where it has no price there, what holds for all regions."""
    record = Catalogue.load(day).region(region).by_name.get(name)
    size = sizes(day).get(name)
    pairs = record["capabilities"] if record is not None else size.capabilities if size is not None else []
    return {pair["name"]: pair["value"] for pair in pairs}


def _reason(name: str, day: str) -> str:
    if name in REGIONAL and day < FIRST_LIST:
        return REGIONAL[name]
    if day < FIRST_LIST:
        return f"date: recorded {day}, the first list without regions is of {FIRST_LIST}"
    return OF_THE_SUBSCRIPTION.get(name, "")


def report(folder: Path) -> tuple[list[str], bool]:
    """All of it in lines, and whether everything agrees but for what has a reason."""
    lines, well = [], True
    assert size_source().date == DAY
    capabilities, recorded = capabilities_of(), recorded_capabilities(folder)
    lines.append(
        f"{len(set(capabilities) & set(recorded))} of {len(recorded)} sizes of {DAY}; more: {len(set(capabilities) - set(recorded))}"
    )
    for name, count in compared(capabilities, recorded).items():
        wrong = count.other + count.missing + count.more
        lines.append(f"  {name:45} {count.same:6} same {wrong:6} not" + _some(count.examples))
        well &= not wrong
    in_order = [name for name, said in capabilities.items() if list(said) == list(recorded.get(name, ()))]
    lines.append(f"  {'order of names':45} {len(in_order):6} same {len(recorded) - len(in_order):6} not")
    well &= len(in_order) == len(recorded) == len(capabilities)
    zones = compared(zones_of(), recorded_zones(folder))
    same, wrong = (
        sum(values)
        for values in zip(*((one.same, one.other + one.missing + one.more) for one in zones.values()), strict=True)
    )
    lines.append(f"zones of {ZONES_DAY}: {same} of {same + wrong} pairs of region and size that are sold today")
    lines += [f"  {example}" for count in zones.values() for example in count.examples[:3]]
    same, reasons, unexplained = regional_differences(folder)
    lines.append(
        f"records with a region: {same} values the same, {sum(reasons.values())} not with a reason, {len(unexplained)} without"
    )
    for reason in sorted({reason for _, reason in reasons}):
        fields = {name: count for (name, why), count in reasons.items() if why == reason}
        lines.append(f"  {reason}: " + ", ".join(f"{name} {count}" for name, count in sorted(fields.items())))
    lines += [f"  no reason: {one}" for one in unexplained]
    price_lines, right = price_report(folder)
    return [*lines, *price_lines], well and not wrong and not unexplained and right


def price_report(folder: Path) -> tuple[list[str], bool]:
    """The prices of the recorded files against ours, and those that are restored where a region is left out; whether all are right."""
    lines, right = [], True
    for region, (same, other) in price_differences(folder).items():
        lines.append(f"prices of {region}: {_share(same, same + len(other))} rows")
        lines += [f"  {example}" for example in other[:3]]
        right &= not other
    for kind, regions in kinds_of_machines(folder).items():
        for region, (same, of) in regions.items():
            lines.append(f"{kind} of {region}: {_share(same, of)}")
            right &= same == of > 0
    restored = all_held_out()
    for region in restored:
        lines.append(f"restored Linux prices of {region.region}, left out: {_share(region.right, region.restored)}")
        right &= region.right == region.restored
    lines.append(
        f"restored Linux prices of all: {_share(sum(one.right for one in restored), sum(one.restored for one in restored))}"
    )
    return lines, right


def _share(same: int, of: int) -> str:
    return f"{same:,} of {of:,}" + (f" ({same / of:.1%})" if of else " (nothing to restore)")


def kinds_of_machines(folder: Path) -> dict[str, dict[str, tuple[int, int]]]:
    """`Linux` and `spot` → region → how many prices are the recorded ones, and how many are recorded, by rows and by size."""
    words = {LINUX: "Linux", LINUX_SPOT: "spot"}
    counts: dict[str, dict[str, tuple[int, int]]] = {word: {} for word in words.values()}

    def count(word: str, region: str, same: bool) -> None:
        before = counts[word].get(region, (0, 0))
        counts[word][region] = before[0] + same, before[1] + 1

    for region, rows in _recorded_rows(folder).items():
        ours = {(row.product, row.sku, row.meter): row.usd for row in prices_in(region).rows}
        for names, usd in rows.items():
            if kind_of(*names[:2]) in words:
                count(words[kind_of(*names[:2])], region, ours.get(names) == usd)
    for region, sizes_of in _recorded_sizes(folder).items():
        billed = {"linux": prices_in(region).linux, "linux_spot": prices_in(region).spot}
        for size, prices in sizes_of.items():
            for column, word in (("linux", "Linux"), ("linux_spot", "spot")):
                if prices[column]:
                    count(word, region, billed[column].get(size) == float(prices[column]))
    return counts


def _recorded_rows(folder: Path) -> dict[str, dict[tuple[str, str, str], float]]:
    """Region → product, SKU and meter → USD per hour."""
    recorded: dict[str, dict[tuple[str, str, str], float]] = {}
    for path in folder.glob("retail-vm-rows-*.csv.gz"):
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                names = row["product_name"], row["sku_name"], row["meter_name"]
                recorded.setdefault(row["region"], {})[names] = float(row["usd"])
    return dict(sorted(recorded.items()))


def _recorded_sizes(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Region → size → column → USD per hour as text."""
    recorded = {}
    for path in folder.glob("vm-prices-*.csv.gz"):
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            recorded[path.name.split("-")[2]] = {line["size"]: line for line in csv.DictReader(file)}
    return recorded


def price_differences(folder: Path) -> dict[str, tuple[int, list[str]]]:
    """Region → how many recorded prices are in its rows, and those that are not."""
    found = {}
    for region, rows in _recorded_rows(folder).items():
        ours = {f"{row.product}, {row.sku}, {row.meter}": row.usd for row in prices_in(region).rows}
        found[region] = _counted(ours, {", ".join(names): usd for names, usd in rows.items()})
    for region, sizes_of in _recorded_sizes(folder).items():
        lines = [*sizes_of.values()]
        ours = {f"linux {size}": usd for size, usd in prices_in(region).linux.items()}
        ours |= {f"linux_spot {size}": usd for size, usd in prices_in(region).spot.items()}
        theirs = {
            f"{kind} {line['size']}": float(line[kind])
            for line in lines
            for kind in ("linux", "linux_spot")
            if line[kind]
        }
        found[region] = _counted({key: ours[key] for key in theirs.keys() & ours.keys()}, theirs)
    return found


def _counted(ours: Mapping[str, float], theirs: Mapping[str, float]) -> tuple[int, list[str]]:
    other = [key for key in sorted({*ours, *theirs}) if ours.get(key) != theirs.get(key)]
    return len(theirs.keys() - set(other)), [f"{key}: {ours.get(key)}, recorded {theirs.get(key)}" for key in other]


def _some(examples: list[str]) -> str:
    return f"  {examples[0]}" if examples else ""
