"""The price list of a world's Azure as its Karpenter reads it, shared with other worlds where nothing is declared."""

from __future__ import annotations

from collections.abc import Sequence

from fakeazure.catalog.prices.linux_view import taken_for_linux
from fakeazure.catalog.prices.rows import recorded_regions
from fakeazure.market.market import Market
from harness.engine.rng import Rng
from harness.karpenter.instancetypes import Prices
from harness.karpenter.labels.core import ON_DEMAND, SPOT
from harness.karpenter.provider.pricing import PriceList
from harness.world.caches import Caches

__all__ = ["AzurePrices"]


class AzurePrices:
    """A PriceSource of the world's region. Each reading draws of its own, from the seed."""

    def __init__(self, market: Market, caches: Caches, region: str, seed: int) -> None:
        self._market, self._caches, self._region = market, caches, region
        self._rng = Rng(seed)
        self._readings = 0
        self._own: dict[tuple[int, int | None], Prices] = {}
        self.declarations = 0

    def declared(self) -> None:
        """Note that prices of this world were declared."""
        self.declarations += 1

    def static(self) -> Prices:
        """Return the table that controllers bring along, under declared prices."""
        if not self._market.prices.declared:
            return self._caches.prices(self._region)
        return self._kept(None)

    def begin_reading(self) -> int | None:
        """The number of a reading that begins now; None where the list does not answer."""
        if not self._market.prices.served:
            return None
        self._readings += 1
        return self._readings

    def prices(self, reading: int) -> Prices:
        """The prices of a reading."""
        if self._market.prices.declared:
            return self._kept(reading)
        catalogue = self._caches.catalogue.region(self._region)
        return self._caches.read_prices(catalogue, self._rng.seed, reading, lambda: self._read(reading))

    def toss(self) -> None:
        """Fix the list so that each size at risk of a toss shows only the row of the first reading: any reader draws it."""
        drawn = self._read(1)
        tables, listed = {ON_DEMAND: drawn.on_demand, SPOT: drawn.spot}, self._market.price_list()
        self._market.prices.withheld = frozenset(
            row
            for toss in self.price_list.tosses
            for row in listed.rows_of_size(toss.size, self._region)
            if taken_for_linux(row) and row.sku.endswith(" Spot") == (toss.capacity_type == SPOT)
            if row.usd != tables[toss.capacity_type][toss.size]
        )

    @property
    def price_list(self) -> PriceList:
        """The list now, with its tosses."""
        view = self._market.linux_view(self._region)
        return PriceList.of(
            {ON_DEMAND: view.linux, SPOT: view.spot}, {ON_DEMAND: view.beside_linux, SPOT: view.beside_spot}
        )

    def guess(self, size: str) -> str:
        """Return why the rows of a size are a guess; "" where they are recorded or declared."""
        if self._region in recorded_regions() or size.lower() in self._market.prices.declared_sizes(self._region):
            return ""
        return f"no list of {self._region} is recorded"

    def _kept(self, reading: int | None) -> Prices:
        key = (self._market.prices.version, reading)
        if key not in self._own:
            self._own = {key: self._static() if reading is None else self._read(reading)}
        return self._own[key]

    def _static(self) -> Prices:
        region, prices = self._caches.catalogue.region(self._region), self._market.prices
        return Prices(prices.table(region, self._region), prices.table(region, self._region, "spot"))

    def _read(self, reading: int) -> Prices:
        def draw(name: str, usd: Sequence[float]) -> float:
            return self._rng.pick(f"prices/{reading}/{name}", usd)

        return self.price_list.read(draw)
