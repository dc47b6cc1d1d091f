"""Azure's price list in a world, as it is at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakeazure.catalog.catalogue import Catalogue
from fakeazure.catalog.prices import PriceRow, prices_in
from fakeazure.catalog.prices.rows import recorded_regions
from fakeazure.market.facts import CatalogueLike, region_of
from fakeazure.market.prices import Prices
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class PriceList:
    """The rows of all regions, which nothing changes: it may be read while the world goes on. A region is read when its rows are."""

    catalogue: CatalogueLike
    prices: Prices

    def regions(self) -> Sequence[str]:
        """The regions of the catalogue, and the recorded ones of which it has no sizes."""
        if not isinstance(self.catalogue, Catalogue):
            return self.catalogue.regions
        return sorted({*self.catalogue.regions, *recorded_regions()})

    def rows(self, location: str) -> Iterator[PriceRow]:
        """The rows of one of the regions, under what the world declared."""
        azures = isinstance(self.catalogue, Catalogue)
        packaged = isinstance(self.catalogue, Catalogue) and location not in self.catalogue.replaced
        region = None if packaged else region_of(self.catalogue, location)
        return self.prices.rows(prices_in(location).rows if azures else (), region, location)
