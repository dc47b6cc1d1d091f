"""Azure's regions: those of the price table, and the zones of each.

Which regions have availability zones is recorded (the subscription's locations as karpenter-provider-azure keeps them
for its tests, `pkg/fake/locations.json` of v1.14.0). Which of a region's zones offer a given size is not published:
a size that is not recorded in the region is taken to be where its family is recorded, else in all zones of the region,
and its record says that this is a guess.
"""

from __future__ import annotations

from enum import StrEnum

from lazyrecords import dataclass


class UltraDisk(StrEnum):
    """The form in which a region's SKU list tells that a size can use ultra disks."""

    ZONAL = "zonal"  # in locationInfo[].zoneDetails[].capabilities
    REGIONAL = "regional"  # in the record's own capabilities
    NONE = "none"  # not at all


@dataclass(frozen=True, slots=True)
class Region:
    """A region: logical zone numbers ("1", "2", "3" or none) and how its list speaks of ultra disks.

    `guessed` holds "zones" when the layout itself is not recorded, and "UltraSSDAvailable" likewise.
    """

    name: str
    zones: tuple[str, ...]
    ultra: UltraDisk
    guessed: frozenset[str]


_ZONAL = """
australiaeast austriaeast brazilsouth canadacentral centralindia centralus chilecentral eastasia eastus eastus2
francecentral germanywestcentral indonesiacentral israelcentral italynorth japaneast japanwest koreacentral
malaysiawest mexicocentral newzealandnorth northeurope norwayeast polandcentral qatarcentral southafricanorth
southcentralus southeastasia spaincentral swedencentral switzerlandnorth uaenorth uksouth westeurope westus2 westus3
"""
_WITHOUT_ZONES = """
australiacentral australiacentral2 australiasoutheast brazilsoutheast canadaeast francesouth germanynorth
jioindiacentral jioindiawest koreasouth northcentralus norwaywest southafricawest southindia swedensouth
switzerlandwest uaecentral ukwest westcentralus westindia westus
"""

# Reserved for in-country disaster recovery and missing in the recorded locations.
_LAYOUT_NOT_RECORDED = frozenset({"swedensouth"})
# Regions whose list carries the flag in the record itself: southcentralus as recorded on 2025-06-03; the others from
# Microsoft's list of regions that attach ultra disks to single VMs only.
_ULTRA_IN_RECORD = frozenset({"southcentralus", "westus", "northcentralus", "australiacentral"})
# Lists seen in records: southcentralus (provider), westcentralus (provider), eastus (skewer's test data).
_ULTRA_RECORDED = frozenset({"southcentralus", "westcentralus", "eastus"})


def _region(name: str, zones: tuple[str, ...]) -> Region:
    if name in _ULTRA_IN_RECORD:
        ultra = UltraDisk.REGIONAL
    else:
        ultra = UltraDisk.ZONAL if zones else UltraDisk.NONE
    guessed = set()
    if name in _LAYOUT_NOT_RECORDED:
        guessed.add("zones")
    if name not in _ULTRA_RECORDED:
        guessed.add("UltraSSDAvailable")
    return Region(name, zones, ultra, frozenset(guessed))


REGIONS: dict[str, Region] = {
    region.name: region
    for region in sorted(
        [_region(name, ("1", "2", "3")) for name in _ZONAL.split()]
        + [_region(name, ()) for name in _WITHOUT_ZONES.split()],
        key=lambda region: region.name,
    )
}
"""Every region with prices, by short name, in alphabetical order. Never changed."""
