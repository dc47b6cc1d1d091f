"""Azure sizes as Karpenter's instance types: parsing, filters, requirements, capacity and offerings.

:func:`build` is the way in; :class:`Region` and :class:`SkuBook` keep what is worth keeping between calls.
"""

from harness.karpenter.instancetypes.build import InstanceTypeList, NoInstanceTypes, Region, SkuBook, build
from harness.karpenter.instancetypes.filters import FILTERS
from harness.karpenter.instancetypes.market import MISSING_PRICE, FamilyUsage, Prices, Usages
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.records import ReadRecords
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.unavailable import UnavailableOfferings

__all__ = [
    "FILTERS",
    "MISSING_PRICE",
    "FamilyUsage",
    "InstanceTypeList",
    "NoInstanceTypes",
    "NodeClassSettings",
    "Prices",
    "ReadRecords",
    "Region",
    "Sku",
    "SkuBook",
    "UnavailableOfferings",
    "Usages",
    "build",
]
