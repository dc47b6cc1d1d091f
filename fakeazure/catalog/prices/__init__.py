"""The price book: rows of Azure's retail list by region, and what follows from them where no list is recorded.

`prices_in("eastus")` is the way in. The provider's static table, which holds prices of "Cloud Services" rows too, stays what
`RegionCatalogue.prices` has.
"""

from __future__ import annotations

from fakeazure.catalog.prices.book import RegionPrices, prices_in, rows_by_size
from fakeazure.catalog.prices.rows import Kind, PriceRow, Priority, Software

__all__ = ["Kind", "PriceRow", "Priority", "RegionPrices", "Software", "prices_in", "rows_by_size"]
