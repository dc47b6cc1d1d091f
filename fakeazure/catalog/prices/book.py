"""The price of an hour of a size in a region, and the rows of its retail list: recorded, restored or guessed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from fakeazure.catalog.prices.derived import derived
from fakeazure.catalog.prices.elsewhere import rows_of_sizes
from fakeazure.catalog.prices.price_file import price_file
from fakeazure.catalog.prices.rows import (
    LINUX,
    LINUX_SPOT,
    Kind,
    PriceRow,
    by_kind,
    list_source,
    recorded_rows,
)
from fakeazure.catalog.prices.spot import guess_reason
from fakeazure.catalog.tables import REGIONS_KEPT, Source, read
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class RegionPrices:
    """The prices of a region, USD per hour. `rows` in the order of products; `by_kind`: of each kind of row, by size.

    `source`: where they are recorded, but for the sizes in `derived`, whose prices follow from the provider's static table.
    """

    region: str
    rows: tuple[PriceRow, ...]
    by_kind: Mapping[Kind, Mapping[str, float]]
    source: Source
    derived: frozenset[str]

    @property
    def linux(self) -> Mapping[str, float]:
        """Size → price on demand of Linux, which is what Azure bills."""
        return self.by_kind.get(LINUX, MappingProxyType({}))

    @property
    def spot(self) -> Mapping[str, float]:
        """Size → price on spot of Linux."""
        return self.by_kind.get(LINUX_SPOT, MappingProxyType({}))

    def guessed(self, size: str) -> str:
        """Return the reason why the size's price on spot is a guess; "" if it is recorded or there is none."""
        return guess_reason(self.region) if size in self.derived and size in self.spot else ""

    def source_of(self, size: str) -> Source:
        """Return the source of the price that the size's rows rest on."""
        return static_source() if size in self.derived else self.source


def static_prices(region: str) -> dict[str, float]:
    """The provider's static table: size → USD per hour, some of them of "Cloud Services" rows; empty for an unknown region."""
    document = read("prices.json.gz")
    prices = (document["regions"].get(region) or "").split(",")
    return {name.strip(): float(usd) for name, usd in zip(document["names"], prices, strict=False) if usd}


def restored_prices(region: str) -> Mapping[str, float]:
    """Size → Linux price of the sizes in the static table that have "Cloud Services" rows."""
    return derived().restored.get(region, {})


def static_source() -> Source:
    """Return the source of the static table, and its day."""
    return Source("karpenter-provider-azure", read("prices.json.gz")["date"])


@lru_cache(maxsize=REGIONS_KEPT)
def rows_by_size(region: str) -> Mapping[str, tuple[PriceRow, ...]]:
    """Size in small letters → its rows, in the order of the region's list."""
    rows: dict[str, list[PriceRow]] = {}
    for row in prices_in(region).rows:
        rows.setdefault(row.size.lower(), []).append(row)
    return MappingProxyType({size: tuple(listed) for size, listed in rows.items()})


@lru_cache(maxsize=REGIONS_KEPT)
def prices_in(region: str) -> RegionPrices:
    """The prices of a region; without rows if it is not known.

    Remembered for all of Azure's regions, 60 MB in all: a page of the whole list reads each of them, which would take seconds if any were
    made anew.
    """
    if rows := recorded_rows(region):
        return RegionPrices(region, rows, by_kind(rows), list_source(), frozenset())
    file, linux = price_file(region), {**static_prices(region), **restored_prices(region)}
    priced = (
        {size: prices for size, prices in file.sizes.items() if LINUX in prices.by_kind} if file is not None else {}
    )
    rows = rows_of_sizes(region, linux, priced)
    source = static_source() if file is None else file.source
    return RegionPrices(region, rows, by_kind(rows), source, frozenset(linux.keys() - priced.keys()))
