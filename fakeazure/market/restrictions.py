"""Restrictions of a subscription: a size closed in a region or in some of its zones, laid over the catalogue's records.

The same overlaid record is what the SKU list shows and what a PUT is judged by, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from lazyrecords import dataclass

REASONS = ("NotAvailableForSubscription", "QuotaId")
PRESETS = ("restricted-2023",)
"""`restricted-2023`: closed is what the subscription whose zones are recorded was not offered without restriction on 2023-08-09, of the
sizes that it was offered elsewhere (`fakeazure/catalog/data/README.md`)."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """Sizes (by pattern of their name or family) closed in `zones`, or in the whole region if there are none given.

    `location` is the region's short name, `*` for all.
    """

    size: str = "*"
    family: str = "*"
    location: str = "*"
    zones: tuple[str, ...] = ()
    reason: str = "NotAvailableForSubscription"

    def applies(self, record: Mapping[str, Any], location: str) -> bool:
        """Return whether it closes this record in this region."""
        return (
            fnmatchcase(record["name"].lower(), self.size.lower())
            and fnmatchcase(str(record.get("family", "")).lower(), self.family.lower())
            and fnmatchcase(location, self.location.lower())
        )

    def document(self, location: str) -> dict[str, Any]:
        """The entry of `restrictions[]`."""
        info: dict[str, Any] = {"locations": [location]}
        if self.zones:
            info["zones"] = list(self.zones)
        return {
            "type": "Zone" if self.zones else "Location",
            "values": [location],
            "restrictionInfo": info,
            "reasonCode": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Sizes:
    """Many sizes closed in `zones` of one region."""

    location: str
    names: frozenset[str]
    zones: tuple[str, ...]

    def applies(self, record: Mapping[str, Any], location: str) -> bool:
        """Return whether it closes this record in this region."""
        return location == self.location and record["name"] in self.names

    def document(self, location: str) -> dict[str, Any]:
        """The entry of `restrictions[]`."""
        return Restriction(zones=self.zones).document(location)


class Restrictions:
    """All restrictions of a world, added to over time. `version` counts the changes."""

    def __init__(self, restrictions: tuple[Restriction | Sizes, ...] = ()) -> None:
        """Start with `restrictions`."""
        self._all = list(restrictions)
        self.version = 0

    def add(self, restriction: Restriction | Sizes) -> None:
        """Close something more."""
        self._all.append(restriction)
        self.version += 1

    def lift(self) -> None:
        """Remove all restrictions."""
        self._all.clear()
        self.version += 1

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self._all)

    def overlay(self, record: Mapping[str, Any], location: str) -> Mapping[str, Any]:
        """The record with the restrictions that apply; the same object if none does."""
        extra = [item.document(location) for item in self._all if item.applies(record, location)]
        if not extra:
            return record
        return {**record, "restrictions": [*(record.get("restrictions") or ()), *extra]}
