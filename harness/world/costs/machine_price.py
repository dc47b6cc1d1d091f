"""What one machine costs: by size and capacity type."""

from __future__ import annotations

from fakeazure.catalog import RegionCatalogue
from fakeazure.market.prices import Prices
from harness.karpenter.labels.core import SPOT
from lazyrecords import dataclass

__all__ = ["MachinePrice", "price_of"]


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """USD per hour of one machine, None without a price; `as_on_demand`: a spot machine of which only the price on demand is known."""

    usd: float | None
    as_on_demand: bool = False


def price_of(prices: Prices, catalogue: RegionCatalogue, region: str, size: str, capacity_type: str) -> MachinePrice:
    """What a machine of a size costs in a region; capacity type `spot` or anything else."""
    on_demand = (
        prices.on_demand(catalogue, size, region) or None
    )  # a list that says 0 knows none, as Karpenter reads it
    if capacity_type != SPOT:
        return MachinePrice(on_demand)
    spot = prices.spot(catalogue, size, region) or None
    if spot is None:
        return MachinePrice(on_demand, on_demand is not None)
    return MachinePrice(spot, not prices.spot_known(catalogue, size, region))
