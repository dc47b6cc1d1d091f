"""A region's SKU records from its sizes: locations, zones, ultra disks, and which of that is a guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fakeazure.catalog.regions import Region, UltraDisk

Record = Mapping[str, Any]
"""One element of the `value` of `GET …/providers/Microsoft.Compute/skus`; never changed, parts of it are shared."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size as it is in every region: capability pairs, the guessed names, ultra disks ("True", "False" or ""), zones.

    `zonal` False: sold by region only, also where the region has zones.
    """

    name: str
    family: str
    capabilities: list[dict[str, str]]
    guessed: frozenset[str]
    ultra: str
    zonal: bool


def family_zones(
    sizes: Mapping[str, Size], recorded: Mapping[str, Record], seen: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Quota family → the zones in which its recorded sizes are sold: its other sizes run on the same hardware."""
    zones: dict[str, set[str]] = {}
    for size, sold in seen.items():
        if size in sizes:
            zones.setdefault(sizes[size].family, set()).update(sold)
    for record in recorded.values():
        for info in record["locationInfo"]:
            zones.setdefault(record["family"], set()).update(info["zones"])
    return {family: tuple(sorted(sold)) for family, sold in zones.items()}


class RecordMaker:
    """Makes a region's records; the parts that many of them have in common are made once."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._locations = [region.name]
        self._restrictions: list[dict[str, Any]] = []
        self._infos: dict[tuple[tuple[str, ...], bool], list[dict[str, Any]]] = {}
        self._marks: dict[tuple[frozenset[str], bool], frozenset[str]] = {}
        self._ultra = {value: {"name": "UltraSSDAvailable", "value": value} for value in ("True", "False")}

    def record(self, size: Size, zones: tuple[str, ...] | None) -> Record:
        """The ARM record of a size; `zones` where they are known or inferred, else all of the region's."""
        if zones is None:
            zones = self._region.zones if size.zonal else ()
        capabilities = size.capabilities
        if size.ultra and self._region.ultra is UltraDisk.REGIONAL:
            capabilities = [*capabilities, self._ultra[size.ultra]]
        tier, _, short = size.name.partition("_")
        return {
            "resourceType": "virtualMachines",
            "name": size.name,
            "tier": tier,
            "size": short,
            "family": size.family,
            "locations": self._locations,
            "locationInfo": self._info(zones, size.ultra == "True" and self._region.ultra is UltraDisk.ZONAL),
            "capabilities": capabilities,
            "restrictions": self._restrictions,
        }

    def guessed(self, size: Size, zones_recorded: bool) -> frozenset[str]:
        """What of the record is a guess."""
        key = (size.guessed, zones_recorded)
        if key not in self._marks:
            marks = size.guessed | self._region.guessed
            if self._region.zones and not zones_recorded:
                marks |= {"zones"}
            self._marks[key] = marks
        return self._marks[key]

    def _info(self, zones: tuple[str, ...], ultra: bool) -> list[dict[str, Any]]:
        key = (zones, ultra)
        if key not in self._infos:
            details = [{"name": list(zones), "capabilities": [self._ultra["True"]]}] if ultra and zones else []
            self._infos[key] = [{"location": self._region.name, "zones": list(zones), "zoneDetails": details}]
        return self._infos[key]
