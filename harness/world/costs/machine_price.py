"""Azure's bill for one machine: by size and capacity type, the Linux price of its list, never a client's reading of it."""

from __future__ import annotations

from fakeazure.catalog import RegionCatalogue
from fakeazure.catalog.prices.linux_view import linux_source, spot_guess
from fakeazure.market.market import Market
from fakeazure.market.spot_discount import percent
from harness.karpenter.labels.core import SPOT
from lazyrecords import dataclass

__all__ = ["MachinePrice", "price_of"]


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """USD per hour of one machine, None without a price; `as_on_demand`: a spot machine of which only the price on
    demand is known.

    `guess`: why the price is a guess, "" if it is not. `source`: the place of its record, or of the prices it is
    guessed from.
    """

    usd: float | None
    as_on_demand: bool = False
    guess: str = ""
    source: str = ""


def price_of(market: Market, catalogue: RegionCatalogue, region: str, size: str, capacity_type: str) -> MachinePrice:
    """Return the price of a machine of a size in a region; capacity type `spot` or anything else.

    A size that the list lacks has the price of the provider's static table.
    """
    view, prices = market.linux_view(region), market.prices
    declared = size.lower() in prices.declared_sizes(region) or size in catalogue.given
    source = "declared" if declared else str(linux_source(region, size))
    # a price of 0 in the list is none, as Karpenter reads it
    on_demand = view.linux.get(size) or prices.on_demand(catalogue, size, region) or None
    if capacity_type != SPOT:
        return MachinePrice(on_demand, source=source)
    spot = view.spot.get(size) or None
    if spot is None:
        return MachinePrice(on_demand, on_demand is not None, source=source)
    if prices.spot_discount is not None and size not in catalogue.given and not prices.declares(size, region, SPOT):
        return MachinePrice(spot, source=f"supposed: {percent(prices.spot_discount)} less than on demand")
    return MachinePrice(spot, guess="" if declared else spot_guess(region, size), source=source)
