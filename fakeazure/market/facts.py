"""A SKU record read once: the few facts that a launch is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fakeazure.catalog.locations import location_key
from lazyrecords import dataclass


class RegionLike(Protocol):
    """The part of a region of the catalogue that the cloud needs."""

    @property
    def skus(self) -> Sequence[Mapping[str, Any]]:
        """The `Microsoft.Compute/skus` records."""
        ...

    @property
    def by_name(self) -> Mapping[str, Mapping[str, Any]]:
        """The records by size name."""
        ...

    @property
    def prices(self) -> Mapping[str, float]:
        """On-demand USD per hour by size name."""
        ...

    @property
    def spot_prices(self) -> Mapping[str, float]:
        """Spot USD per hour by size name."""
        ...

    @property
    def zones(self) -> Sequence[str]:
        """The region's zones, `("1", "2", "3")` or none."""
        ...


class CatalogueLike(Protocol):
    """The part of a catalogue that the cloud needs."""

    @property
    def as_of(self) -> str | None:
        """The day of its lists, an ISO date; None for that of the prices."""
        ...

    @property
    def regions(self) -> Sequence[str]:
        """The short names of all regions."""
        ...

    def region(self, name: str) -> RegionLike:
        """A region by its short name; KeyError or ValueError if it is not known."""
        ...

    def zones(self, region: str) -> Sequence[str]:
        """A region's zones, without reading what it sells."""
        ...

    def unlisted(self, name: str) -> frozenset[str]:
        """Sizes of other regions that the subscription whose zones are recorded was not offered in this one."""
        ...


def region_of(catalogue: CatalogueLike, location: str) -> RegionLike | None:
    """A region by any spelling of its name; None if Azure has no such region."""
    try:
        return catalogue.region(location_key(location))
    except (KeyError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Size:
    """The facts of one size in one region. `capabilities` has lower-cased names."""

    name: str
    family: str
    location: str
    zones: tuple[str, ...]
    capabilities: Mapping[str, str]
    zone_capabilities: Mapping[str, Mapping[str, str]]
    restricted_everywhere: bool
    restricted_zones: frozenset[str]

    @classmethod
    def of(cls, record: Mapping[str, Any], location: str) -> Size:
        """Read an ARM record."""
        info: Mapping[str, Any] = next(
            (item for item in record.get("locationInfo") or () if item.get("location", "").lower() == location), {}
        )
        everywhere, closed = False, set[str]()
        for restriction in record.get("restrictions") or ():
            if location not in {value.lower() for value in restriction.get("values") or ()}:
                continue
            if restriction.get("type") == "Location":
                everywhere = True
            elif restriction.get("type") == "Zone":
                closed |= set((restriction.get("restrictionInfo") or {}).get("zones") or ())
        per_zone: dict[str, dict[str, str]] = {}
        for detail in info.get("zoneDetails") or ():
            for zone in detail.get("name") or detail.get("Name") or ():
                per_zone.setdefault(zone, {}).update(_capabilities(detail))
        return cls(
            name=record["name"],
            family=record.get("family", ""),
            location=location,
            zones=tuple(sorted(info.get("zones") or ())),
            capabilities=_capabilities(record),
            zone_capabilities=per_zone,
            restricted_everywhere=everywhere,
            restricted_zones=frozenset(closed),
        )

    @property
    def vcpus(self) -> int:
        """vCPUs, what quota counts."""
        return int(float(self.capabilities.get("vcpus", "0")))

    def has(self, capability: str) -> bool:
        """A boolean capability, `True` in any case."""
        return self.capabilities.get(capability.lower(), "").lower() == "true"

    def number(self, capability: str) -> float:
        """A numeric capability, 0 if it is absent."""
        try:
            return float(self.capabilities.get(capability.lower(), "0"))
        except ValueError:
            return 0.0

    def zone_has(self, capability: str, zone: str) -> bool:
        """A boolean capability of one zone; of the size itself for a regional VM (`zone` empty)."""
        if not zone:
            return self.has(capability)
        return self.zone_capabilities.get(zone, {}).get(capability.lower(), "").lower() == "true"


def _capabilities(holder: Mapping[str, Any]) -> dict[str, str]:
    return {item["name"].lower(): str(item["value"]) for item in holder.get("capabilities") or ()}
