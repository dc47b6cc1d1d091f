"""The inputs of the provider's instance types at one moment: prices, quotas, and marks of unavailable offerings."""

from __future__ import annotations

from harness.karpenter.instancetypes import Prices, Region, UnavailableOfferings, Usages
from harness.karpenter.instancetypes.offerings import Closed
from harness.karpenter.instancetypes.sku import Sku
from lazyrecords import dataclass

__all__ = ["MarketSnapshot"]


@dataclass(frozen=True, slots=True)
class MarketSnapshot:
    """Sizes, prices, quotas and marks at one moment; it does not change later."""

    region: Region
    prices: Prices
    usages: Usages
    marks: UnavailableOfferings

    def closed(self, size: str, zone: str, capacity_type: str) -> Closed | None:
        """Return why an offering was unavailable, by its size, the value of its zone label, and its capacity type; None
        where it was available.
        """
        sku = self.region.find(size)
        if not isinstance(sku, Sku):
            return None
        return self.region.factory.closed(
            sku, self.prices, self.marks, self.usages, zone=zone, capacity_type=capacity_type
        )
