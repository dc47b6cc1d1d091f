"""The catalogue as it is read: regions, their SKU lists as ARM records, prices, and what of it is a guess.

Everything here is shared and immutable by agreement: records, capability lists and pairs are plain dicts and lists, the
same objects in many records, and nobody may change them (a market that restricts or removes builds new records).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fakeazure.catalog.errors import UnknownRegion, UnknownSize
from fakeazure.catalog.records import Record, RecordMaker, Size, family_zones
from fakeazure.catalog.regions import REGIONS

DATA = Path(__file__).parent / "data"

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RegionCatalogue:
    """What a region sells.

    `skus`: the ARM records in order of name; `by_name` the same by SKU name. `prices`: USD per hour on demand, only for
    sizes that are listed and priced. `spot_prices`: USD per hour; equal to `prices`, as Karpenter's provider assumes
    until it has read live spot prices (discounts are the market's to set). `zones`: the region's logical zones.
    `source`: "synthesised", or the file that an imported list came from.
    """

    name: str
    zones: tuple[str, ...]
    skus: tuple[Record, ...]
    by_name: Mapping[str, Record]
    prices: Mapping[str, float]
    spot_prices: Mapping[str, float]
    guesses: Mapping[str, frozenset[str]] = field(repr=False)
    source: str = "synthesised"

    def sku(self, name: str) -> Record:
        """The record of a size; UnknownSize if the region does not sell it."""
        try:
            return self.by_name[name]
        except KeyError:
            raise UnknownSize(name, self.by_name, f" in {self.name}") from None

    def guessed(self, name: str) -> frozenset[str]:
        """What of a size's record is a guess: capability names and "zones"; empty for a recorded or imported one."""
        self.sku(name)
        return self.guesses.get(name, _NOTHING)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All regions; `replaced` holds those whose list a user imported."""

    replaced: Mapping[str, RegionCatalogue] = field(default_factory=lambda: MappingProxyType({}))

    @staticmethod
    def load() -> Catalogue:
        """The catalogue of the package; cheap, every region is read when it is first asked for and then shared."""
        return _packaged()

    @property
    def regions(self) -> tuple[str, ...]:
        """Short names of all regions, in alphabetical order."""
        return tuple(sorted({*REGIONS, *self.replaced}))

    def region(self, name: str) -> RegionCatalogue:
        """What a region sells; UnknownRegion if there is no region of that short name."""
        if name in self.replaced:
            return self.replaced[name]
        if name not in REGIONS:
            raise UnknownRegion(name, self.regions)
        return _region(name)

    def names(self, region: str) -> Set[str]:
        """The names of the sizes that a region sells, without making their records; UnknownRegion as `region`."""
        if region in self.replaced:
            return self.replaced[region].by_name.keys()
        if region not in REGIONS:
            raise UnknownRegion(region, self.regions)
        return _sold(region)

    def with_region(self, region: RegionCatalogue) -> Catalogue:
        """A catalogue in which that region's list takes the place of the packaged one; this one stays as it is."""
        return Catalogue(MappingProxyType({**self.replaced, region.name: region}))


def prices_of(region: str, names: Iterable[str]) -> dict[str, float]:
    """USD per hour on demand of those of the names that the region's price table has; empty for an unknown region."""
    document = _read("prices.json.gz")
    text = document["regions"].get(region)
    if text is None:
        return {}
    priced = {name: price for name, price in zip(document["names"], text.split(","), strict=True) if price}
    return {name: float(priced[name]) for name in names if name in priced}


def recorded_skus(region: str) -> tuple[Record, ...]:
    """The records of a region as the real API gave them to the provider's authors; most regions have none."""
    return tuple(record for record in _read("recorded.json.gz")["records"] if record["locations"] == [region])


@cache
def _sold(region: str) -> frozenset[str]:
    """The names that a packaged region sells, without making their records."""
    document = _read("prices.json.gz")
    prices = (document["regions"].get(region) or "").split(",")
    listed = {name for name, price in zip(document["names"], prices, strict=False) if price}
    return frozenset({*(listed & _sizes().keys()), *(record["name"] for record in recorded_skus(region))})


@cache
def _packaged() -> Catalogue:
    return Catalogue()


@cache
def _read(name: str) -> Any:
    # zlib alone reads gzip too; the gzip module costs milliseconds to import.
    return json.loads(zlib.decompress((DATA / name).read_bytes(), wbits=31))


@cache
def _sizes() -> dict[str, Size]:
    document = _read("sizes.json.gz")
    pairs = [{"name": name, "value": value} for name, value in document["pairs"]]
    guesses = [frozenset(names) for names in document["guesses"]]
    return {
        name: Size(name, family, [pairs[index] for index in indices], guesses[guess], ultra, bool(zonal))
        for name, family, indices, guess, ultra, zonal in document["sizes"]
    }


@cache
def _region(name: str) -> RegionCatalogue:
    region = REGIONS[name]
    sizes = _sizes()
    recorded = {record["name"]: record for record in recorded_skus(name)}
    seen: dict[str, tuple[str, ...]] = {
        size: tuple(zones) for size, zones in _read("recorded.json.gz")["zones"].get(name, {}).items()
    }
    families = family_zones(sizes, recorded, seen)
    names = sorted({*prices_of(name, sizes), *recorded})
    prices = MappingProxyType(prices_of(name, names))
    maker = RecordMaker(region)
    records: dict[str, Record] = {}
    guesses: dict[str, frozenset[str]] = {}
    for size in names:
        if size in recorded:
            records[size] = recorded[size]
            continue
        records[size] = maker.record(sizes[size], seen.get(size, families.get(sizes[size].family)))
        guesses[size] = maker.guessed(sizes[size], size in seen)
    return RegionCatalogue(
        name=name,
        zones=region.zones,
        skus=tuple(records.values()),
        by_name=MappingProxyType(records),
        prices=prices,
        spot_prices=prices,
        guesses=MappingProxyType(guesses),
    )
