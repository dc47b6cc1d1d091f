"""A price file of one region: what a size costs on demand, on spot, reserved and by savings plans."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from fakeazure.catalog.prices.rows import Kind, Priority, Software
from fakeazure.catalog.tables import Source, read
from lazyrecords import dataclass

__all__ = ["PriceFile", "SizePrices", "price_file"]

TERMS = {"1 Year": 8760, "3 Years": 26280}
"""Hours of a term, by which the list's price of a reservation is the price of an hour."""
_KINDS = {
    "linux": Kind(Software.LINUX, Priority.REGULAR),
    "linux_spot": Kind(Software.LINUX, Priority.SPOT),
    "windows": Kind(Software.WINDOWS, Priority.REGULAR),
    "windows_spot": Kind(Software.WINDOWS, Priority.SPOT),
}
_COLUMNS = {"1y": "1 Year", "3y": "3 Years"}


@dataclass(frozen=True, slots=True)
class SizePrices:
    """One size, USD per hour: by kind of row, and by term reserved and of savings plans."""

    by_kind: Mapping[Kind, float]
    reserved: Mapping[str, float]
    savings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PriceFile:
    """A region's file and where it is from."""

    region: str
    source: Source
    sizes: Mapping[str, SizePrices]


@cache
def price_file(region: str) -> PriceFile | None:
    """The file of a region, None if there is none."""
    document = read("price-file.json.gz")
    if region != document["region"]:
        return None
    sizes = {name: _prices(document["columns"], text) for name, text in document["sizes"].items()}
    return PriceFile(region, Source(document["source"], document["date"]), MappingProxyType(sizes))


def _prices(columns: list[str], text: str) -> SizePrices:
    prices = {column: float(usd) for column, usd in zip(columns, text.split(","), strict=True) if usd}

    def by_term(kind: str) -> dict[str, float]:
        return {term: prices[f"{kind}_{end}"] for end, term in _COLUMNS.items() if f"{kind}_{end}" in prices}

    kinds = {kind: prices[column] for column, kind in _KINDS.items() if column in prices}
    return SizePrices(kinds, by_term("linux_reserved"), by_term("linux_savings"))
