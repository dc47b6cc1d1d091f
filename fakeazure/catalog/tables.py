"""The recorded tables as they are stored: sizes of a day, and which days there are.

`data/README.md` says where each is from; `tools/catalogue.py` makes them.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from fakeazure.catalog.errors import CatalogueError
from lazyrecords import dataclass

__all__ = ["Size", "Source", "check_date", "read", "regional_spot", "size_source", "sizes", "told_spot"]

REGIONS_KEPT = 128
"""Regions of which data is remembered: more than Azure has, since a page of the whole price list reads each of them, and a world may name
others."""
DAYS_KEPT = 16
"""Days of which data is remembered."""
DATA = Path(__file__).parent / "data"

_NOTHING = -2  # no list states it, nor of a family near it; -1: some list does


class Source(NamedTuple):
    """The source of a recorded fact: the public repository, and the day (ISO) that it holds for."""

    name: str
    date: str

    def __str__(self) -> str:
        return f"{self.name}, {self.date}"


@dataclass(frozen=True, slots=True)
class Size:
    """A size as it is in every region: capability pairs in ARM's order, and whether it takes ultra disks.

    `ultra` is "True", "False", or "" for sizes of which no list says either. `ultra_like`: None when a list tells, else
    the family that it is taken from, "" when there is none.
    """

    name: str
    family: str
    capabilities: list[dict[str, str]]
    ultra: str
    ultra_like: str | None


@cache
def read(name: str) -> Any:
    """A data file; kept, so that nobody may change it."""
    # zlib alone reads gzip too; the gzip module costs milliseconds to import.
    return json.loads(zlib.decompress((DATA / name).read_bytes(), wbits=31))


@lru_cache(maxsize=DAYS_KEPT)
def size_source(as_of: str | None = None) -> Source:
    """Return the source of the capabilities, and its day: the list of that day or the last one before."""
    document = read("sizes.json.gz")
    return Source(document["source"], document["date"] if as_of is None else _list_before(as_of))


def check_date(as_of: str) -> None:
    """Raise CatalogueError for a text that is no ISO date, and for a day before the first list."""
    from datetime import date  # only who asks for a day needs it

    try:
        # Days are compared as texts, so that ISO's other spellings (20250602) are none.
        valid = date.fromisoformat(as_of).isoformat() == as_of
    except ValueError:
        valid = False
    if not valid:
        raise CatalogueError(f"{as_of!r} is no date; write 2026-06-15")
    first = read("history.json.gz")["dates"][0]
    if as_of < first:
        raise CatalogueError(f"no list of sizes is as old as {as_of}; the first is of {first}")


@lru_cache(maxsize=DAYS_KEPT)
def sizes(as_of: str | None = None) -> dict[str, Size]:
    """All sizes that Azure lists, of the day that goes with the prices or of another."""
    document = read("sizes.json.gz")
    pairs = {
        chr(letter): {"name": name, "value": value}
        for letter, (name, value) in enumerate(document["pairs"], document["letters"])
    }
    families, pair = document["families"], pairs.__getitem__
    today = {
        name: Size(
            name,
            families[family],
            list(map(pair, letters)),
            ultra,
            families[like] if like >= 0 else "" if like == _NOTHING else None,
        )
        for name, family, letters, ultra, like in document["sizes"]
    }
    return today if as_of is None else _of_day(_list_before(as_of), today)


@cache
def regional_spot() -> frozenset[str]:
    """The sizes that are spot in some regions and not in others."""
    return frozenset(read("sizes.json.gz")["spot"]["regional"])


@lru_cache(maxsize=REGIONS_KEPT)
def told_spot(region: str) -> dict[str, tuple[str, Source]]:
    """Return the recorded value and its source for each size that a list of that region has."""
    stated = read("sizes.json.gz")["spot"]["told"]
    return {size: (value, Source(name, date)) for place, size, value, name, date in stated if place == region}


def _list_before(as_of: str) -> str:
    dates: list[str] = read("history.json.gz")["dates"]
    return dates[bisect_right(dates, as_of) - 1]


def _of_day(day: str, today: dict[str, Size]) -> dict[str, Size]:
    document = read("history.json.gz")
    place = {name: index for index, name in enumerate(document["order"])}
    others = {name: _gone(name, family, values) for name, (family, values) in document["others"].items()}
    by_name = {}
    for name, size in sorted({**today, **others}.items()):
        first, last = document["seen"].get(name, (day, day))
        if not first <= day <= last:
            continue
        then = document["values"].get(name)
        if then is not None:
            stated_values = {pair["name"]: pair["value"] for pair in size.capabilities}
            for capability, dated in then.items():
                value = _value(dated, day)
                if value is None:
                    stated_values.pop(capability, None)
                else:
                    stated_values[capability] = value
            capabilities = [
                {"name": key, "value": stated_values[key]} for key in sorted(stated_values, key=place.__getitem__)
            ]
            size = Size(name, size.family, capabilities, size.ultra, size.ultra_like)
        by_name[name] = size
    return by_name


def _gone(name: str, family: str, values: dict[str, str]) -> Size:
    return Size(name, family, [{"name": key, "value": value} for key, value in values.items()], "", "")


def _value(dated: list[tuple[str, str | None]], day: str) -> str | None:
    return next((value for date, value in reversed(dated) if date <= day), None)
