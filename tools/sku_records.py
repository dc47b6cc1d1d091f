"""Reads the recorded lists of Azure's sizes (`recorded/` of the data folder) and says what follows from them for a size.

`sku-capabilities-DATE.jsonl.gz` and `sku-capabilities-history.jsonl.gz` name no region, `sku-records-regional.jsonl.gz` and
`sku-zones.jsonl.gz` do. Every line is one record; `recorded/INVENTORY.md` says where each file is from.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]

ZONES_SOURCE, ZONES_DATE = "RHEnVision/provisioning-backend", "2023-08-09"
"""One subscription's view of all regions. Zone numbers differ from subscription to subscription, so that views are not mixed."""

ULTRA, SPOT = "UltraSSDAvailable", "LowPriorityCapable"


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file; OSError if it is not there."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def order_of(records: Iterable[Json]) -> list[str]:
    """Capability names in the order in which ARM lists them; ValueError if two records contradict each other."""
    before: dict[str, set[str]] = {}
    for record in records:
        names = list(record["capabilities"])
        for index, name in enumerate(names):
            before.setdefault(name, set()).update(names[:index])
    ordered: list[str] = []
    while before:
        ready = [name for name, earlier in before.items() if not earlier - set(ordered)]
        if not ready:
            raise ValueError(f"no one order of capabilities: {', '.join(sorted(before))}")
        ordered.append(min(ready))
        del before[ordered[-1]]
    return ordered


def values_over_time(record: Json, capability: str) -> list[tuple[str, str | None]]:
    """(from this date, value) of a record of the history, oldest first."""
    dates = [record["firstSeen"]]
    values = []
    for date, name, value_before in record["was"]:
        if name == capability:
            dates.append(date)
            values.append(value_before)
    return list(zip(dates, [*values, record["capabilities"].get(capability)], strict=True))


def flips(record: Json, capability: str) -> bool:
    """Whether the list without regions had a value, another one and the first again: it differs from region to region."""
    values = [value for _, value in values_over_time(record, capability)]
    return len(values) > len(set(values))


@dataclass(frozen=True, slots=True)
class Kin:
    """What a family's name tells of its hardware: letters, features, accelerator, version."""

    letters: str
    features: frozenset[str]
    accelerator: str
    version: int

    def distance(self, other: Kin) -> tuple[int, int] | None:
        """How far an older or equally old series is away, None if it is other hardware or newer."""
        same = self.letters == other.letters and self.accelerator == other.accelerator
        if not same or self._maker != other._maker or other.version > self.version:
            return None
        return self.version - other.version, len(self.features ^ other.features)

    @property
    def _maker(self) -> str:
        return next((letter for letter in "pa" if letter in self.features), "")


_NAME = re.compile(
    r"(?P<letters>[A-Z]+)\d+(?:-\d+)?(?P<features>[a-z]*)(?:_(?P<accelerator>[A-Z]+\d+[A-Z]*))?(?:_cc)?(?:_\d+)?"
    r"(?:_v(?P<version>\d))?(?:_Promo)?"
)  # Microsoft's "Azure virtual machine sizes naming conventions"


def kin_of(size: str) -> Kin | None:
    """The kin of a SKU name; None for the few that follow no convention."""
    found = _NAME.fullmatch(size.partition("_")[2])
    if found is None:
        return None
    return Kin(found["letters"], frozenset(found["features"]), found["accelerator"] or "", int(found["version"] or "1"))


def nearest_families(families: Mapping[str, Kin | None], known: Mapping[str, Any]) -> dict[str, str]:
    """Family without a known value → the nearest one with it; of equally near ones the first that has the commonest value."""
    found = {}
    for family, kin in families.items():
        if family in known or kin is None:
            continue
        near: dict[tuple[int, int], list[str]] = {}
        for other in sorted(known):
            other_kin = families.get(other)
            distance = None if other_kin is None else kin.distance(other_kin)
            if distance is not None:
                near.setdefault(distance, []).append(other)
        if near:
            best = near[min(near)]
            commonest = Counter(known[one] for one in best).most_common(1)[0][0]
            found[family] = next(one for one in best if known[one] == commonest)
    return found


def renumbered(view: Mapping[str, tuple[str, ...]], ours: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Another subscription's zones of a region in our view's numbers.

    Every numbering is tried that fits all sizes which both list; a size is taken when all of them say the same of it.
    Without one that fits, only what holds for any numbering is taken: no zone, or all three.
    """
    fitting = []
    for order in permutations("123"):
        names = dict(zip("123", order, strict=True))
        if all(_named(zones, names) == ours[size] for size, zones in view.items() if size in ours):
            fitting.append(names)
    fitting = fitting or [dict(zip("123", order, strict=True)) for order in permutations("123")]
    told = {size: {_named(zones, names) for names in fitting} for size, zones in view.items() if size not in ours}
    return {size: next(iter(zones)) for size, zones in told.items() if len(zones) == 1}


def _named(zones: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(names[zone] for zone in zones))
