"""The catalogue as it is read: regions, their SKU lists as ARM records, prices, and what of it is a guess.

Everything here is shared and immutable by agreement: records, capability lists and pairs are plain dicts and lists, the
same objects in many records, and nobody may change them (a market that restricts or removes builds new records).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import field, replace
from functools import lru_cache
from types import MappingProxyType

from fakeazure.catalog.errors import NotSold, UnknownRegion, UnknownSize
from fakeazure.catalog.locations import location_key
from fakeazure.catalog.records import Evidence, Record, RecordMaker
from fakeazure.catalog.regions import REGIONS
from fakeazure.catalog.tables import DAYS_KEPT, REGIONS_KEPT, Source, check_date, read, size_source, sizes
from fakeazure.catalog.zones import unlisted, zones_in
from lazyrecords import dataclass

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_SOURCE: Mapping[str, Source] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RegionCatalogue:
    """The offer of a region.

    `skus`: the ARM records in order of name; `by_name` the same by SKU name. `prices`: USD per hour on demand, only for
    sizes that are listed and priced. `spot_prices`: USD per hour; equal to `prices`, as Karpenter's provider assumes
    until it has read live spot prices (discounts are the market's to set). `zones`: the region's logical zones.
    `evidence`: what the records rest on, None for an imported list. `source`: "recorded", or the file that an imported
    list came from.
    """

    name: str
    zones: tuple[str, ...]
    skus: tuple[Record, ...]
    by_name: Mapping[str, Record]
    prices: Mapping[str, float]
    spot_prices: Mapping[str, float]
    evidence: Evidence | None = field(default=None, repr=False)
    source: str = "recorded"
    given: frozenset[str] = frozenset()
    """Sizes that somebody described for a world of their own: nothing of them is recorded, and nothing a guess."""

    def sku(self, name: str) -> Record:
        """The record of a size; UnknownSize if the region does not sell it."""
        try:
            return self.by_name[name]
        except KeyError:
            raise UnknownSize(name, self.by_name, f" in {self.name}") from None

    def guessed(self, name: str) -> Mapping[str, str]:
        """Return the guesses in a size's record, with their reasons: by capability name, and "zones"; empty for an
        imported one.
        """
        self.sku(name)
        return _NOTHING if self.evidence is None or name in self.given else self.evidence.guessed(name)

    def sources(self, name: str) -> Mapping[str, Source]:
        """Return the sources of a size's record, by group of fields; empty for an imported one."""
        self.sku(name)
        return _NO_SOURCE if self.evidence is None or name in self.given else self.evidence.sources(name)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All regions; `replaced` holds those whose list a user imported. `as_of`: the day of the lists, None for that of the prices."""

    replaced: Mapping[str, RegionCatalogue] = field(default_factory=lambda: MappingProxyType({}))
    as_of: str | None = None

    @staticmethod
    def load(as_of: str | None = None) -> Catalogue:
        """The catalogue of the package; cheap, every region is read when it is first asked for and then shared.

        `as_of`: an ISO date; the sizes and capabilities are then those of the last list before its end. Prices and zones are
        of one day each. CatalogueError if it is no date or older than the lists.
        """
        return _packaged(None).on_day(as_of) if as_of is not None else _packaged(None)

    def on_day(self, as_of: str) -> Catalogue:
        """This catalogue with the lists of another day, as `load` has them; lists that a user imported stay.

        CatalogueError as in `load`.
        """
        check_date(as_of)
        return replace(self, as_of=as_of) if self.replaced else _packaged(as_of)

    @property
    def regions(self) -> tuple[str, ...]:
        """Short names of all regions, in alphabetical order."""
        return tuple(sorted({*REGIONS, *self.replaced}))

    def region(self, name: str) -> RegionCatalogue:
        """Return a region's offer, by its short or its display name (`eastus`, `East US`); UnknownRegion if there is
        none of that name.
        """
        key = location_key(name)
        if key in self.replaced:
            return self.replaced[key]
        if key not in REGIONS:
            raise UnknownRegion(name, self.regions)
        return _region(key, self.as_of)

    def zones(self, region: str) -> tuple[str, ...]:
        """A region's logical zones, without making its records; UnknownRegion as `region`."""
        key = location_key(region)
        if key in self.replaced:
            return self.replaced[key].zones
        if key not in REGIONS:
            raise UnknownRegion(region, self.regions)
        return REGIONS[key].zones

    def names(self, region: str) -> Set[str]:
        """The names of the sizes that a region sells, without making their records; UnknownRegion as `region`."""
        key = location_key(region)
        if key in self.replaced:
            return self.replaced[key].by_name.keys()
        if key not in REGIONS:
            raise UnknownRegion(region, self.regions)
        return _sold(key, self.as_of)

    def sellers(self, size: str) -> tuple[str, ...]:
        """The regions that sell a size, in alphabetical order."""
        return tuple(region for region in self.regions if size in self.names(region))

    def check_sold(self, size: str, region: str) -> None:
        """NotSold if only other regions sell a size, UnknownSize if none does."""
        if size in self.names(region):
            return
        elsewhere = self.sellers(size)
        raise NotSold(size, region, elsewhere) if elsewhere else UnknownSize(size, self.names(region), f" in {region}")

    def unlisted(self, name: str) -> frozenset[str]:
        """Sizes of other regions that the subscription whose zones are recorded was not offered in this one, in 2023; none of an
        imported list."""
        return frozenset() if name in self.replaced else unlisted(name)

    def with_region(self, region: RegionCatalogue) -> Catalogue:
        """A catalogue in which that region's list takes the place of the packaged one; this one stays as it is."""
        return Catalogue(MappingProxyType({**self.replaced, region.name: region}), self.as_of)


def prices_of(region: str, names: Iterable[str]) -> dict[str, float]:
    """USD per hour on demand of those of the names that the region's price table has; empty for an unknown region."""
    document = read("prices.json.gz")
    text = document["regions"].get(region)
    if text is None:
        return {}
    priced = {name: price for name, price in zip(document["names"], text.split(","), strict=True) if price}
    return {name: float(priced[name]) for name in names if name in priced}


@lru_cache(maxsize=REGIONS_KEPT)
def _sold(region: str, as_of: str | None) -> frozenset[str]:
    """The names that a packaged region sells, without making their records."""
    document = read("prices.json.gz")
    prices = (document["regions"].get(region) or "").split(",")
    listed = {name for name, price in zip(document["names"], prices, strict=False) if price}
    return frozenset(listed & sizes(as_of).keys())


@lru_cache(maxsize=DAYS_KEPT)
def _packaged(as_of: str | None) -> Catalogue:
    return Catalogue(as_of=as_of)


@lru_cache(maxsize=REGIONS_KEPT)
def _region(name: str, as_of: str | None) -> RegionCatalogue:
    """Azure sells a size where it has a price for it."""
    region, all_sizes = REGIONS[name], sizes(as_of)
    prices = MappingProxyType(prices_of(name, all_sizes))
    sold = {size: all_sizes[size] for size in prices}
    zones = zones_in(name, sold) if region.zones else {}
    maker = RecordMaker(region)
    records = {size: maker.record(facts, zones[size].zones if zones else ()) for size, facts in sold.items()}
    priced = Source("karpenter-provider-azure", read("prices.json.gz")["date"])
    return RegionCatalogue(
        name=name,
        zones=region.zones,
        skus=tuple(records.values()),
        by_name=MappingProxyType(records),
        prices=prices,
        spot_prices=prices,
        evidence=Evidence(region, sold, zones, size_source(as_of), priced),
    )
