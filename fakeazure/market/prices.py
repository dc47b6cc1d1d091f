"""Prices in a world: Azure's price list under what a world declares, and whether the list can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fakeazure.catalog.catalogue import RegionCatalogue
from fakeazure.catalog.prices.elsewhere import names_of
from fakeazure.catalog.prices.rows import LINUX, LINUX_SPOT, PriceRow
from fakeazure.catalog.prices.spot import guessed_fraction
from fakeazure.market.facts import RegionLike
from fakeazure.market.spot_discount import discounted_rows
from lazyrecords import dataclass

ON_DEMAND, SPOT = "on-demand", "spot"


@dataclass(frozen=True, slots=True)
class Price:
    """USD per hour of one size in one region."""

    size: str
    location: str
    kind: str
    usd: float


class Prices:
    """The overlay: declared prices of sizes, and declared rows, which take the place of Azure's rows of their sizes.

    `served`: whether the retail price list answers; where it does not, clients keep the prices that they have. `spot_discount`: the part
    of the price on demand that spot is supposed to cost less in the list, None for Azure's own prices.
    """

    def __init__(self) -> None:
        """Start without an overlay."""
        self._overlay: dict[tuple[str, str, str], float | None] = {}
        self._rows: dict[tuple[str, str], tuple[PriceRow, ...]] = {}
        self.served = True
        self.spot_discount: float | None = None
        self.version = 0
        """Counts the declarations."""
        self.withheld: frozenset[PriceRow] = frozenset()
        """Rows that the list does not show, though they are billed."""

    def copy(self) -> Prices:
        """An overlay of its own with what is declared by now."""
        prices = Prices()
        prices._overlay, prices._rows, prices.served = dict(self._overlay), dict(self._rows), self.served
        prices.withheld, prices.spot_discount = self.withheld, self.spot_discount
        return prices

    def set(self, size: str, usd: float | None, *, kind: str = ON_DEMAND, location: str = "*") -> None:
        """Declare a price, None to take it away. ValueError for a negative price or an unknown kind."""
        if kind not in (ON_DEMAND, SPOT):
            raise ValueError(f"{kind!r} is no kind of price; known are {ON_DEMAND} and {SPOT}")
        if usd is not None and usd < 0:
            raise ValueError(f"a price is not negative: {size}: {usd}")
        self._overlay[(size.lower(), location.lower(), kind)] = usd
        self.version += 1

    def suppose_spot_discount(self, discount: float | None) -> None:
        """Let spot cost this part of the price on demand less."""
        self.spot_discount = discount
        self.version += 1

    def list_rows(self, rows: Iterable[PriceRow], location: str = "*") -> None:
        """Declare rows of a region; those that were declared of the same sizes go."""
        sizes: dict[str, list[PriceRow]] = {}
        for row in rows:
            sizes.setdefault(row.size.lower(), []).append(row)
        self.version += 1
        self._rows |= {(size, location.lower()): tuple(listed) for size, listed in sizes.items()}

    @property
    def declared(self) -> bool:
        """Tell whether a world has any price that is not Azure's."""
        return bool(self._overlay or self._rows) or self.spot_discount is not None

    def declared_sizes(self, location: str) -> frozenset[str]:
        """The sizes in small letters of which a world declares prices or rows in a region."""
        places = (location, "*")
        prices = {size for size, place, _ in self._overlay if place in places}
        return frozenset(prices | {size for size, place in self._rows if place in places})

    def on_demand(self, region: RegionLike, size: str, location: str) -> float | None:
        """USD per hour on demand by the catalogue's own table; None without a price."""
        return self._look(size, location, ON_DEMAND, region.prices.get(size))

    def spot(self, region: RegionLike, size: str, location: str) -> float | None:
        """USD per hour on spot by the catalogue's own table; None without a price."""
        return self._look(size, location, SPOT, region.spot_prices.get(size))

    def all(self, region: RegionLike, location: str) -> Iterator[Price]:
        """Every price of the sizes that a region sells, in the order of its list, on demand before spot."""
        for size in region.by_name:
            on_demand, spot = self.on_demand(region, size, location), self.spot(region, size, location)
            if on_demand is not None:
                yield Price(size, location, ON_DEMAND, on_demand)
            if spot is not None:
                yield Price(size, location, SPOT, spot)

    def table(self, region: RegionLike, location: str, kind: str = ON_DEMAND) -> Mapping[str, float]:
        """Size → USD per hour; the catalogue's own table, not a copy, where no price is declared."""
        base = region.prices if kind == ON_DEMAND else region.spot_prices
        if not self._overlay:
            return base
        return {price.size: price.usd for price in self.all(region, location) if price.kind == kind}

    def rows(
        self, listed: Iterable[PriceRow], region: RegionLike | None, location: str, sold: Iterable[str] = ()
    ) -> Iterator[PriceRow]:
        """The rows of Azure's list for a region.

        `listed`: as Azure has them. `region`: what a world sells there, None if that is what Azure sells. `sold`: the names of the sizes
        that are declared and sold. A size with a declared price on
        demand, and one that Azure does not list, has rows of Linux alone; a declared price on spot takes that row's place.
        """
        if self.spot_discount is not None:
            listed = discounted_rows(listed, self.spot_discount)
        own = self.declared_sizes(location) | _given(region)
        azures: dict[str, list[PriceRow]] = {}
        for row in listed:
            rows = azures.setdefault(row.size.lower(), [])
            if row.size.lower() in own:
                rows.append(row)
            else:
                yield row
        names = {size.lower(): size for size in (*(region.by_name if region is not None else ()), *sold)}
        for size in [*azures, *(size for size in names if size not in azures)]:
            rows = azures.get(size, [])
            if rows or size not in azures:
                yield from self.rows_of_size(names.get(size) or rows[0].size, rows, region, location)

    def rows_of_size(
        self, size: str, listed: Sequence[PriceRow], region: RegionLike | None, location: str
    ) -> Iterator[PriceRow]:
        """The rows of one size, of which `listed` are Azure's; inputs otherwise as those of `rows`."""
        declared = self.declared_rows(size, location)
        azures = declared or ([] if size.lower() in _given(region) else listed)
        if self.spot_discount is not None:
            azures = discounted_rows(azures, self.spot_discount)
        if azures and not self.declares(size, location, ON_DEMAND) and not self.declares(size, location, SPOT):
            yield from azures
        else:
            yield from self._own_rows(azures, region, size, location)

    def declared_rows(self, size: str, location: str) -> Sequence[PriceRow]:
        """The rows that a world declares of a size in a region; none where it declares no rows."""
        name = size.lower()
        return [PriceRow(*row) for row in self._rows.get((name, location)) or self._rows.get((name, "*")) or ()]

    def _own_rows(
        self, azures: Sequence[PriceRow], region: RegionLike | None, size: str, location: str
    ) -> Iterator[PriceRow]:
        """The rows of a size of which a world says something, or of which Azure's list has none."""
        spot = next((row.usd for row in azures if row.kind == LINUX_SPOT), None)
        record = region.by_name.get(size) if region is not None else None
        if azures and not self.declares(size, location, ON_DEMAND):
            yield from (row for row in azures if row.kind != LINUX_SPOT)
        else:
            on_demand = self._look(size, location, ON_DEMAND, region.prices.get(size) if region is not None else None)
            if on_demand is not None:
                yield PriceRow(*names_of(size, LINUX), size, on_demand)
            can_be_spot = _can_be_spot(record) if record is not None else spot is not None
            spot = (
                round(on_demand * self._spot_fraction(size, location), 6)
                if can_be_spot and on_demand is not None
                else None
            )
            if can_be_spot and region is not None and region.spot_prices.get(size) != region.prices.get(size):
                spot = region.spot_prices.get(size)
        spot = self._look(size, location, SPOT, spot)
        if spot is not None and (record is None or _can_be_spot(record)):
            yield PriceRow(*names_of(size, LINUX_SPOT), size, spot)

    def _spot_fraction(self, size: str, location: str) -> float:
        """The price on spot by the price on demand of a size that the list lacks."""
        return guessed_fraction(size, location) if self.spot_discount is None else 1 - self.spot_discount

    def declares(self, size: str, location: str, kind: str) -> bool:
        """Tell whether a world declares the price of a size in a region by itself; `kind` is that of `set`."""
        return any((size.lower(), place, kind) in self._overlay for place in (location, "*"))

    def _look(self, size: str, location: str, kind: str, otherwise: float | None) -> float | None:
        for place in (location, "*"):
            key = (size.lower(), place, kind)
            if key in self._overlay:
                return self._overlay[key]
        return otherwise


def _given(region: RegionLike | None) -> frozenset[str]:
    """The sizes in small letters that somebody described for a world of their own."""
    return _lowered(region.given) if isinstance(region, RegionCatalogue) else frozenset()


@lru_cache(32)
def _lowered(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _can_be_spot(record: Mapping[str, Any]) -> bool:
    return any(pair["name"] == "LowPriorityCapable" and pair["value"] == "True" for pair in record["capabilities"])
