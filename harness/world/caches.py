"""Parts that worlds share: heavy ones that do not depend on the events in one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any

from fakeazure.catalog import Catalogue, RegionCatalogue
from fakeazure.market.amendments import amended
from harness.karpenter.instancetypes import Prices, ReadRecords, SkuBook
from harness.karpenter.instancetypes.alike import lists_like
from harness.karpenter.provider.shared_lists import SharedLists
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.scheduling import CatalogIndexes
from harness.latest import Latest, LatestOf
from lazyrecords import dataclass

_READINGS = 64
"""Readings of price lists that are kept; one takes 200 KiB."""


class ListsInUse:
    """Instance types by region and release, of the `most` pairs that were used last: a pair takes about 6 MiB.

    Releases that make the same lists are one, and all of a region read its records once.
    """

    def __init__(self, most: int = 48, *, records: int = 32) -> None:
        self._found: Latest[tuple[str, str], SharedLists] = Latest(most)
        self._read = ReadRecords(records)

    def lists_for(self, region: str, release: ProviderRelease) -> SharedLists:
        """Return the lists that worlds of a region and a release share; they stay valid for their holder after they were dropped here."""
        return self._found.of((region, lists_like(release).version), lambda: SharedLists(SkuBook(self._read)))


@dataclass(frozen=True)
class Caches:
    """The catalogue, instance types and prices; one object serves any number of worlds."""

    catalogue: Catalogue = field(default_factory=Catalogue.load)
    lists: ListsInUse = field(default_factory=ListsInUse)
    indexes: CatalogIndexes = field(default_factory=CatalogIndexes)
    _prices: dict[int, tuple[RegionCatalogue, Prices]] = field(default_factory=dict)
    _readings: LatestOf[RegionCatalogue, Prices] = field(default_factory=lambda: LatestOf(_READINGS))

    def prices(self, region: str) -> Prices:
        """The price table of a region; the same object every time."""
        catalogue_of_region = self.catalogue.region(region)
        if id(catalogue_of_region) not in self._prices:
            self._prices[id(catalogue_of_region)] = (
                catalogue_of_region,
                Prices(catalogue_of_region.prices, catalogue_of_region.spot_prices),
            )
        return self._prices[id(catalogue_of_region)][1]

    def read_prices(self, region: RegionCatalogue, seed: int, reading: int, read: Callable[[], Prices]) -> Prices:
        """Return the prices of one reading of a region's price list under a seed, read at first use."""
        return self._readings.of(region, read, seed, reading)

    def on_day(self, as_of: str | None) -> Caches:
        """Return caches of the lists that Azure had on that day, an ISO date; None is the catalogue's own day.

        Derived values are kept by the lists, so that all days share them. Raises CatalogueError.
        """
        return self if as_of is None else replace(self, catalogue=self.catalogue.on_day(as_of))

    def amended(self, azure: Mapping[str, Any], region: str) -> Caches:
        """Return caches for a market whose `sizes` and `regions` amend the catalogue, in `region`; these where they are empty.

        Raises MarketError.
        """
        catalogue = amended(self.catalogue, azure, region)
        return self if catalogue is self.catalogue else replace(self, catalogue=catalogue)

    def only(self, region: str, sizes: Collection[str]) -> Caches:
        """Return caches of a catalogue with only these sizes in a region. A world with fewer sizes is faster."""
        whole = self.catalogue.region(region)
        records = {name: record for name, record in whole.by_name.items() if name in sizes}
        return Caches(self.catalogue.with_region(replace(whole, skus=tuple(records.values()), by_name=records)))


@cache
def default_caches() -> Caches:
    """Return the caches that worlds use by default."""
    return Caches()
