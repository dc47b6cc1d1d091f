"""A region's list as clients of Linux machines read it, without making its rows: the prices that are billed, and those
that are taken for them.

A client that looks for Linux drops products that end in " Windows" and meters that end in " Low Priority". Beside a
size's Linux row it keeps a "Cloud Services" row of 87 sizes and one Windows row ("Virtual Machines NCCadsv5 Srs Win").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from fakeazure.catalog.prices.book import prices_in, restored_prices, static_prices, static_source
from fakeazure.catalog.prices.derived import derived
from fakeazure.catalog.prices.price_file import price_file
from fakeazure.catalog.prices.rows import LINUX, LINUX_SPOT, PriceRow, Priority, list_source, recorded_regions
from fakeazure.catalog.prices.spot import guess_reason, guessed_fraction
from fakeazure.catalog.tables import REGIONS_KEPT, Source
from lazyrecords import dataclass

__all__ = ["LinuxView", "linux_source", "linux_view", "spot_guess", "taken_for_linux", "view_of"]

Others = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class LinuxView:
    """USD per hour by size: `linux` and `spot` as Azure bills them, and the prices of rows that are taken for them."""

    linux: Mapping[str, float]
    spot: Mapping[str, float]
    beside_linux: Others
    beside_spot: Others

    def over(self, below: LinuxView, sizes: Iterable[str]) -> LinuxView:
        """This view of some sizes over that of all; `sizes` in small letters are left out below."""
        gone = frozenset(sizes)

        def laid(name: str) -> Mapping[str, object]:
            before: Mapping[str, object] = getattr(below, name)
            return {**{size: usd for size, usd in before.items() if size.lower() not in gone}, **getattr(self, name)}

        return LinuxView(laid("linux"), laid("spot"), laid("beside_linux"), laid("beside_spot"))  # type: ignore[arg-type]


def taken_for_linux(row: PriceRow) -> bool:
    """Tell whether a client that looks for Linux keeps a row of an hour's use."""
    return not (row.term or row.product.endswith(" Windows") or row.meter.endswith(" Low Priority"))


def view_of(rows: Iterable[PriceRow]) -> LinuxView:
    """Return the prices of machines with Linux in rows; of several Linux rows of one size the first is billed."""
    tables: tuple[dict[str, float], dict[str, float]] = {}, {}
    others: tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]] = {}, {}
    for row in rows:
        if not taken_for_linux(row):
            continue
        spot = row.kind.priority is Priority.SPOT
        if row.kind == (LINUX_SPOT if spot else LINUX) and row.size not in tables[spot]:
            tables[spot][row.size] = row.usd
        else:
            others[spot][row.size] = (*others[spot].get(row.size, ()), row.usd)
    return LinuxView(*tables, *others)


@lru_cache(maxsize=REGIONS_KEPT)
def linux_view(region: str) -> LinuxView:
    """The view of a region; empty if the region is not known."""
    if region in recorded_regions() or price_file(region) is not None:
        return view_of(prices_in(region).rows)
    linux = {**static_prices(region), **restored_prices(region)}
    facts = derived()
    spot = {size: round(usd * guessed_fraction(size, region), 6) for size, usd in linux.items() if size in facts.spot}
    dearer = {size: round(linux[size] + added, 4) for size, added in facts.beside_linux.items() if size in linux}
    beside_spot = {
        size: (round(dearer[size] * guessed_fraction(size, region), 6),) for size in facts.beside_spot if size in dearer
    }
    return LinuxView(linux, spot, {size: (usd,) for size, usd in dearer.items()}, beside_spot)


def linux_source(region: str, size: str) -> Source:
    """Return the source of the price that a size's Linux price rests on."""
    if region in recorded_regions():
        return list_source()
    file = price_file(region)
    return file.source if file is not None and size in file.sizes else static_source()


def spot_guess(region: str, size: str) -> str:
    """Return the reason why the size's price on spot is a guess; "" if it is recorded."""
    if region in recorded_regions():
        return ""
    file = price_file(region)
    return guess_reason(region) if file is None or size not in file.sizes else ""
