"""Prices in a world: the catalogue's prices under an overlay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.catalog.spot_discounts import spot_fraction
from fakeazure.market.facts import RegionLike
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
    """The overlay. A size that neither it nor the catalogue prices has no price."""

    def __init__(self) -> None:
        """Start without an overlay."""
        self._overlay: dict[tuple[str, str, str], float | None] = {}

    def set(self, size: str, usd: float | None, *, kind: str = ON_DEMAND, location: str = "*") -> None:
        """Declare a price, None to take it away. ValueError for a negative price or an unknown kind."""
        if kind not in (ON_DEMAND, SPOT):
            raise ValueError(f"{kind!r} is no kind of price; known are {ON_DEMAND} and {SPOT}")
        if usd is not None and usd < 0:
            raise ValueError(f"a price is not negative: {size}: {usd}")
        self._overlay[(size.lower(), location.lower(), kind)] = usd

    def on_demand(self, region: RegionLike, size: str, location: str) -> float | None:
        """USD per hour on demand; None without a price."""
        return self._look(size, location, ON_DEMAND, region.prices.get(size))

    def spot(self, region: RegionLike, size: str, location: str) -> float | None:
        """USD per hour on spot; None without a price."""
        return self._look(size, location, SPOT, region.spot_prices.get(size))

    def spot_known(self, region: RegionLike, size: str, location: str) -> bool:
        """Whether the price on spot is one of its own, not the price on demand in its place."""
        if any((size.lower(), place, SPOT) in self._overlay for place in (location, "*")):
            return True
        return region.spot_prices.get(size) != region.prices.get(size)

    def all(self, region: RegionLike, location: str) -> Iterator[Price]:
        """Every price of the sizes that a region sells, in the order of its list, on demand before spot."""
        for size in region.by_name:
            on_demand, spot = self.on_demand(region, size, location), self.spot(region, size, location)
            if on_demand is not None:
                yield Price(size, location, ON_DEMAND, on_demand)
            if spot is not None:
                yield Price(size, location, SPOT, spot)

    def retail(self, region: RegionLike, location: str) -> Iterator[Price]:
        """Every price as Azure's list has it: on demand, and on spot at its discount for the sizes that can be spot."""
        for size, record in region.by_name.items():
            on_demand = self.on_demand(region, size, location)
            if on_demand is not None:
                yield Price(size, location, ON_DEMAND, on_demand)
            spot = self.spot(region, size, location)
            if not self.spot_known(region, size, location):
                spot = None if on_demand is None else round(on_demand * spot_fraction(size, location), 6)
            if spot is not None and _can_be_spot(record):
                yield Price(size, location, SPOT, spot)

    def table(self, region: RegionLike, location: str, kind: str = ON_DEMAND) -> Mapping[str, float]:
        """Size → USD per hour; the catalogue's own table, not a copy, where nothing is declared."""
        base = region.prices if kind == ON_DEMAND else region.spot_prices
        if not self._overlay:
            return base
        return {price.size: price.usd for price in self.all(region, location) if price.kind == kind}

    def _look(self, size: str, location: str, kind: str, otherwise: float | None) -> float | None:
        for place in (location, "*"):
            key = (size.lower(), place, kind)
            if key in self._overlay:
                return self._overlay[key]
        return otherwise


def _can_be_spot(record: Mapping[str, Any]) -> bool:
    return any(pair["name"] == "LowPriorityCapable" and pair["value"] == "True" for pair in record["capabilities"])
