"""SKU records of what is sold beside sizes: availability sets, disks, dedicated hosts, snapshots; regions differ in their zones.

Sources: the form of the records, and the hosts, from `az vm list-skus -l westus` that somebody shows in public (August 2020); the figures
of disks from learn.microsoft.com, "Scalability and performance targets for VM disks" and "Share an Azure managed disk".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["other_skus"]

_GIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32767)
"""Sizes of disks by which they are billed."""
_NUMBERS = (1, 2, 3, 4, 6, 10, 15, 20, 30, 40, 50, 60, 70, 80)
"""Numbers of these sizes, behind the letter of their kind."""
_HDD = ((500, 60),) * 11 + ((1300, 300), (2000, 500), (2000, 500))
_SSD = ((500, 100),) * 11 + ((2000, 400), (4000, 600), (6000, 750))
_PREMIUM = (
    *((120, 25),) * 4, (240, 50), (500, 100), (1100, 125), (2300, 150), (5000, 200), (7500, 250), (7500, 250), (16000, 500), (18000, 750),
    (20000, 900),
)  # fmt: skip
"""IOPS and MB/s of each size."""
_KINDS = (
    ("Standard_LRS", "Standard", "S", _HDD, 3, False),
    ("StandardSSD_LRS", "Standard", "E", _SSD, 0, False),
    ("Premium_LRS", "Premium", "P", _PREMIUM, 0, False),
    ("StandardSSD_ZRS", "Standard", "E", _SSD, 0, True),
    ("Premium_ZRS", "Premium", "P", _PREMIUM, 0, True),
)
"""Name, tier, letter, performance, the place of the smallest size, whether it needs zones."""
_HOSTS = """
    DSv3-Type1 standardDSv3Family 64, DSv3-Type2 standardDSv3Family 76, ESv3-Type1 standardESv3Family 64, ESv3-Type2 standardESv3Family 76,
    LSv2-Type1 standardLSv2Family 80, FSv2-Type2 standardFSv2Family 72, NVSv3-Type1 standardNVSv3Family 48,
    MSv2-Type1 standardMSv2Family 416,
    MSmv2-Type1 standardMSv2Family 416, MSm-Type1 standardMSFamily 128, MS-Type1 standardMSFamily 128, DASv4-Type1 standardDASv4Family 96,
    EASv4-Type1 standardEASv4Family 96
"""
_REGIONS = 128


def _shares(place: int, kind: str) -> int:
    """Return how many machines may share a disk of a size; nothing shares spinning ones."""
    if kind == "S":
        return 1
    return 3 if place < 8 else 5 if place < 11 else 10


def _disks(zoned: bool) -> Iterator[dict[str, Any]]:
    for name, tier, letter, performance, first, needs_zones in _KINDS:
        if needs_zones and not zoned:
            continue
        for place in range(first, len(_GIB)):
            (most, fastest), (least, slowest) = performance[place], performance[0]
            if letter == "P":  # whose size alone decides
                least, slowest = most, fastest
            capabilities = {
                "MaxSizeGiB": _GIB[place],
                "MinSizeGiB": _GIB[place - 1] if place > first else 0,
                "MaxIOps": most,
                "MinIOps": least,
                "MaxBandwidthMBps": fastest,
                "MinBandwidthMBps": slowest,
                "MaxValueOfMaxShares": _shares(place, letter),
            }
            if letter == "P" and place < 8:
                capabilities |= {"MaxBurstIops": 3500, "MaxBurstBandwidthMBps": 170}
            yield {
                "resourceType": "disks",
                "name": name,
                "tier": tier,
                "size": f"{letter}{_NUMBERS[place]}",
                "capabilities": capabilities,
            }


def _hosts() -> Iterator[dict[str, Any]]:
    for row in _HOSTS.split(","):
        name, family, cpus = row.split()
        yield {
            "resourceType": "hostGroups/hosts",
            "name": name,
            "family": family,
            "capabilities": {"vCPUs": cpus, "vCPUsPerCore": 2},
        }


@lru_cache(maxsize=_REGIONS)
def other_skus(region: str, zones: tuple[str, ...]) -> Sequence[dict[str, Any]]:
    """Return the records of a region that are of no virtual machine, in ARM's order."""
    sets = (
        {"resourceType": "availabilitySets", "name": name, "capabilities": {"MaximumPlatformFaultDomainCount": 3}}
        for name in ("Classic", "Aligned")
    )
    snapshots: list[dict[str, Any]] = [
        {"resourceType": "snapshots", "name": f"{tier}_LRS", "tier": tier} for tier in ("Standard", "Premium")
    ]
    if zones:
        snapshots.append({"resourceType": "snapshots", "name": "Standard_ZRS", "tier": "Standard"})
    records = []
    for record in (*sets, *_disks(bool(zones)), *_hosts(), *snapshots):
        zonal = () if record["resourceType"] in ("availabilitySets", "snapshots") else zones
        capabilities = record.pop("capabilities", {})
        info = {"location": region, "zones": list(zonal), "zoneDetails": []}
        more = {"locations": [region], "locationInfo": [info], "restrictions": []}
        pairs = [{"name": name, "value": str(value)} for name, value in capabilities.items()]
        records.append({**record, **more, "capabilities": pairs})
    return tuple(records)
