"""The retail list's names of regions: `location` is "EU West" where `armRegionName` is westeurope."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LOCATIONS: Mapping[str, str] = MappingProxyType({
    "australiacentral": "AU Central", "australiacentral2": "AU Central 2", "australiaeast": "AU East",
    "australiasoutheast": "AU Southeast", "austriaeast": "AT East", "belgiumcentral": "BE Central", "brazilsouth": "BR South",
    "brazilsoutheast": "BR Southeast", "canadacentral": "CA Central", "canadaeast": "CA East", "centralindia": "IN Central",
    "centralus": "US Central", "chilecentral": "CL Central", "eastasia": "AP East", "eastus": "US East", "eastus2": "US East 2",
    "francecentral": "FR Central", "francesouth": "FR South", "germanynorth": "DE North", "germanywestcentral": "DE West Central",
    "indonesiacentral": "ID Central", "israelcentral": "IL Central", "italynorth": "IT North", "japaneast": "JA East",
    "japanwest": "JA West", "jioindiacentral": "IN Central Jio", "jioindiawest": "IN West Jio", "koreacentral": "KR Central",
    "koreasouth": "KR South", "malaysiawest": "MY West", "mexicocentral": "MX Central", "newzealandnorth": "NZ North",
    "northcentralus": "US North Central", "northeurope": "EU North", "norwayeast": "NO East", "norwaywest": "NO West",
    "polandcentral": "PL Central", "qatarcentral": "QA Central", "southafricanorth": "ZA North", "southafricawest": "ZA West",
    "southcentralus": "US South Central", "southeastasia": "AP Southeast", "southindia": "IN South", "spaincentral": "ES Central",
    "swedencentral": "SE Central", "swedensouth": "SE South", "switzerlandnorth": "CH North", "switzerlandwest": "CH West",
    "uaecentral": "AE Central", "uaenorth": "AE North", "uksouth": "UK South", "ukwest": "UK West", "westcentralus": "US West Central",
    "westeurope": "EU West", "westindia": "IN West", "westus": "US West", "westus2": "US West 2", "westus3": "US West 3",
})  # fmt: skip
"""Short name → the list's."""
