"""Azure's price list in a world, as it is at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fakeazure.catalog.catalogue import Catalogue, RegionCatalogue
from fakeazure.catalog.prices import PriceRow, prices_in, rows_by_size
from fakeazure.catalog.prices.linux_view import LinuxView, linux_view, view_of
from fakeazure.catalog.prices.rows import recorded_regions
from fakeazure.market.facts import CatalogueLike, RegionLike, region_of
from fakeazure.market.prices import Prices
from fakeazure.market.spot_discount import discounted_view
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
        """The rows of one of the regions that the list shows, under what the world declared."""
        listed = prices_in(location).rows if isinstance(self.catalogue, Catalogue) else ()
        declared = self.prices.declared_sizes(location)
        sold = [name for size, name in self._sold(location).items() if size in declared] if declared else ()
        rows = self.prices.rows(listed, self._own_region(location), location, sold)
        return (row for row in rows if row not in self.prices.withheld) if self.prices.withheld else rows

    def rows_of_size(self, size: str, location: str) -> Sequence[PriceRow]:
        """The rows of one size in one of the regions; the size compares without case."""
        listed = rows_by_size(location).get(size.lower(), ()) if isinstance(self.catalogue, Catalogue) else ()
        name = listed[0].size if listed else self._sold(location).get(size.lower(), size)
        return tuple(self.prices.rows_of_size(name, listed, self._own_region(location), location))

    def linux_view(self, location: str) -> LinuxView:
        """Return the list's prices for machines with Linux in one of the regions; the catalogue's own where the world declares nothing."""
        azures = linux_view(location) if isinstance(self.catalogue, Catalogue) else view_of(())
        if self.prices.spot_discount is not None:
            azures = discounted_view(azures, self.prices.spot_discount)
        region, declared = self._own_region(location), self.prices.declared_sizes(location)
        if region is None and not declared:
            return azures
        sold = self._sold(location) if region is not None else {}
        imported = {size.lower() for size in region.given} if isinstance(region, RegionCatalogue) else set()
        listed = {size.lower() for size in (*azures.linux, *azures.beside_linux)}
        own = {*declared, *imported, *(sold.keys() - listed)}
        rows = (row for size in sorted(own) for row in self.rows_of_size(size, location))
        return view_of(rows).over(azures, own)

    def _own_region(self, location: str) -> RegionLike | None:
        """Return a region as the world sells it; None if that is as Azure does."""
        packaged = isinstance(self.catalogue, Catalogue) and location not in self.catalogue.replaced
        return None if packaged else region_of(self.catalogue, location)

    def _sold(self, location: str) -> Mapping[str, str]:
        """Name in small letters → name of the sizes that are sold in a region; empty if it is not known."""
        if not isinstance(self.catalogue, Catalogue):
            region = region_of(self.catalogue, location)
            return {name.lower(): name for name in (region.by_name if region is not None else ())}
        sells = location in self.catalogue.regions
        return {name.lower(): name for name in self.catalogue.names(location)} if sells else {}
