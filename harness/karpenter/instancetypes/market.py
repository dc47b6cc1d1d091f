"""The provider's knowledge of the market beside SKU records: prices and quotas (kaz ``pkg/providers/{pricing,quota}``)."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from harness.karpenter.instancetypes.sku import Sku
from lazyrecords import dataclass

__all__ = ["MISSING_PRICE", "NO_PRICES", "NO_USAGES", "FamilyUsage", "Prices", "Usages"]

MISSING_PRICE = 999.0
"""USD per hour that stands for an unknown price: chosen last, not excluded."""


@dataclass(frozen=True)
class Prices:
    """USD per hour by size name. Before the first update from Azure's price list, spot costs what on-demand costs."""

    on_demand: Mapping[str, float] = field(default_factory=dict)
    spot: Mapping[str, float] = field(default_factory=dict)


NO_PRICES = Prices()


@dataclass(frozen=True, slots=True)
class FamilyUsage:
    """vCPUs used of a quota, and the quota."""

    current: int
    limit: int


@dataclass(frozen=True)
class Usages:
    """Quotas by their ARM name (``standardDSv3Family``, ``cores``, ``lowPriorityCores``); families without one are not limited."""

    by_name: Mapping[str, FamilyUsage] = field(default_factory=dict)

    @classmethod
    def from_arm(cls, records: Iterable[Mapping[str, Any]]) -> "Usages":
        """Read the records of ``Microsoft.Compute/locations/usages``; those without numbers do not limit."""
        return cls(
            {
                record["name"]["value"]: FamilyUsage(record["currentValue"], record["limit"])
                for record in records
                if (record.get("name") or {}).get("value")
                and record.get("limit") is not None
                and record.get("currentValue") is not None
            }
        )

    def room_for(self, sku: Sku) -> bool:
        """Return whether the family's quota has room for one more of this size."""
        usage = self.by_name.get(sku.family) if sku.family else None
        return usage is None or sku.vcpus is None or sku.vcpus <= usage.limit - usage.current


NO_USAGES = Usages()
