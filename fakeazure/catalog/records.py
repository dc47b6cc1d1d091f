"""A region's SKU records from its sizes: locations, zones, ultra disks, and which of that is a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.catalog.regions import Region, UltraDisk
from fakeazure.catalog.tables import Size, Source, regional_spot, told_spot
from fakeazure.catalog.zones import SoldIn
from lazyrecords import dataclass

Record = Mapping[str, Any]
"""One element of the `value` of `GET …/providers/Microsoft.Compute/skus`; never changed, parts of it are shared."""

ULTRA, SPOT, ZONES = "UltraSSDAvailable", "LowPriorityCapable", "zones"
"""The properties that differ from region to region."""


class RecordMaker:
    """Makes a region's records; the parts that many of them have in common are made once."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._spot = told_spot(region.name)
        self._locations = [region.name]
        self._restrictions: list[dict[str, Any]] = []
        self._infos: dict[tuple[tuple[str, ...], bool], list[dict[str, Any]]] = {}
        self._ultra = {value: {"name": ULTRA, "value": value} for value in ("True", "False")}

    def record(self, size: Size, zones: tuple[str, ...]) -> Record:
        """The ARM record of a size."""
        capabilities = size.capabilities
        if size.name in self._spot:
            own = {"name": SPOT, "value": self._spot[size.name][0]}
            capabilities = [own if pair["name"] == SPOT else pair for pair in capabilities]
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

    def _info(self, zones: tuple[str, ...], ultra: bool) -> list[dict[str, Any]]:
        key = (zones, ultra)
        if key not in self._infos:
            # ARM spells this one key with a capital letter (azure-sdk-for-go#25597).
            details = [{"Name": list(zones), "capabilities": [self._ultra["True"]]}] if ultra and zones else []
            self._infos[key] = [{"location": self._region.name, "zones": list(zones), "zoneDetails": details}]
        return self._infos[key]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a region's records. `prices` and `capabilities` are of one source each; zones are of several."""

    region: Region
    sizes: Mapping[str, Size]
    zones: Mapping[str, SoldIn]
    capabilities: Source
    prices: Source

    def guessed(self, name: str) -> Mapping[str, str]:
        """Field → why it is a guess."""
        size, sold, reasons = self.sizes[name], self.zones.get(name), {}
        if sold is not None and sold.recorded is None:
            reasons[ZONES] = sold.reason
        elif "zones" in self.region.guessed:
            reasons[ZONES] = f"it is not recorded whether {self.region.name} has zones"
        if name in regional_spot() and name not in told_spot(self.region.name):
            reasons[SPOT] = "lists without a region said True and False by turns; this is that of the day"
        if size.ultra_like:
            kin = (
                "other sizes of its family"
                if size.ultra_like == size.family
                else f"{size.ultra_like}, the nearest family"
            )
            reasons[ULTRA] = f"no list states it; this is that of {kin}"
        elif size.ultra_like is not None:
            reasons[ULTRA] = "no list states it, nor of a family near it"
        elif size.ultra == "True" and ULTRA in self.region.guessed:
            reasons[ULTRA] = f"recorded of other regions; how {self.region.name} lists ultra disks is not recorded"
        return reasons

    def sources(self, name: str) -> Mapping[str, Source]:
        """Group of fields (`capabilities`, `zones`, `prices`, or a regional field) → where it is recorded; guesses are not there."""
        sources = {"capabilities": self.capabilities, "prices": self.prices}
        sold = self.zones.get(name)
        if sold is not None and sold.recorded is not None:
            sources[ZONES] = sold.recorded
        stated = told_spot(self.region.name).get(name)
        if stated is not None:
            sources[SPOT] = stated[1]
        return sources
