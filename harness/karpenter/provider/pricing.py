"""Prices as the provider believes them: its static table at first, then Azure's retail price list, which it reads anew every 12 hours.

It drops products that end in " Windows" and meters that end in " Low Priority", and keeps the others in a Go map; of two rows with one
size the one that it visits last stays. A size has two where a "Cloud Services" row is listed beside the Linux one, so each reading draws
one of both. Before the first reading spot costs what on demand costs. A list that cannot be read leaves the prices as they are. All
releases do so.
Source: kaz pkg/providers/pricing/pricing.go (NewProvider, updatePricing, processPage, categorizePrices).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from harness.engine.clock import Clock
from harness.karpenter.instancetypes import Prices
from harness.karpenter.labels.core import ON_DEMAND, SPOT
from lazyrecords import dataclass

__all__ = ["READ_AGAIN", "READ_FIRST", "PriceList", "PriceSource", "PriceTable", "Pricing", "Toss"]

READ_AGAIN = 12 * 3600.0
"""Seconds between two readings (kaz pricingUpdatePeriod)."""
READ_FIRST = 5.0
"""Seconds from the start of its workers until it has read the list: nine pages of 1,000 rows, one after the other. The real controller of
1.14.0 took 2.3 s for a list that was served on the same machine; in Azure it was not measured."""

Draw = Callable[[str, Sequence[float]], float]
"""Returns one of some values, always the same for one name."""


@dataclass(frozen=True, slots=True)
class Toss:
    """A size of which the list has several rows that the provider keeps, with their prices in USD per hour."""

    size: str
    capacity_type: str
    usd: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PriceList:
    """A region's list as the provider reads it: the prices that are certain, and the tosses."""

    certain: Prices
    tosses: tuple[Toss, ...]

    @classmethod
    def of(
        cls, tables: Mapping[str, Mapping[str, float]], beside: Mapping[str, Mapping[str, tuple[float, ...]]]
    ) -> PriceList:
        """The list by capacity type: the prices of Linux rows, and those of rows that the provider keeps beside them."""
        tosses = []
        for capacity_type in (ON_DEMAND, SPOT):
            for size, others in sorted(beside[capacity_type].items()):
                linux = tables[capacity_type].get(size)
                tosses.append(Toss(size, capacity_type, others if linux is None else (linux, *others)))
        return cls(Prices(tables[ON_DEMAND], tables[SPOT]), tuple(tosses))

    def read(self, draw: Draw) -> Prices:
        """The prices of one reading."""
        if not self.tosses:
            return self.certain
        tables = {ON_DEMAND: dict(self.certain.on_demand), SPOT: dict(self.certain.spot)}
        for toss in self.tosses:
            tables[toss.capacity_type][toss.size] = draw(f"{toss.capacity_type}/{toss.size}", toss.usd)
        return Prices(tables[ON_DEMAND], tables[SPOT])


class PriceSource(Protocol):
    """The source of a controller's prices. `declarations` counts the times that somebody set prices of this world."""

    declarations: int

    def static(self) -> Prices:
        """The table that the controller brings along; the same object while nothing is declared."""
        ...

    def begin_reading(self) -> int | None:
        """The number of a reading that begins now; None where the list does not answer."""
        ...

    def prices(self, reading: int) -> Prices:
        """The prices of a reading; the same object while nothing is declared."""
        ...


class PriceTable(Protocol):
    """The prices that a controller knows. `declarations` changes when some count at once."""

    @property
    def declarations(self) -> int: ...

    @property
    def live(self) -> bool:
        """Return whether time alone brings other prices."""
        ...

    def prices(self) -> Prices: ...


class Pricing:
    """The prices of one controller's process. `running`: it has read the list before; else it starts now, and reads it seconds later."""

    def __init__(self, clock: Clock, source: PriceSource, *, running: bool) -> None:
        self._clock, self._source = clock, source
        self._due = clock.seconds + (0.0 if running else READ_FIRST)
        self._reading: int | None = None
        self._prices: Prices = source.static()
        self._seen = source.declarations

    @property
    def declarations(self) -> int:
        """Return a value that changes whenever prices were declared, which count at once."""
        return self._source.declarations

    @property
    def live(self) -> bool:
        """Return whether it has read the list."""
        self._catch_up()
        return self._reading is not None

    def prices(self) -> Prices:
        """The prices now; the same object while they are the same."""
        self._catch_up()
        return self._prices

    def _catch_up(self) -> None:
        reread = self._seen != self._source.declarations
        self._seen = self._source.declarations
        while self._due <= self._clock.seconds:
            self._due += READ_AGAIN
            reading = self._source.begin_reading()
            if reading is not None:
                self._reading, reread = reading, True
        if reread:
            self._prices = self._source.static() if self._reading is None else self._source.prices(self._reading)
