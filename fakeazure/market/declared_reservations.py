"""Capacity reservations that a world has from the start: groups by name, in the cluster's resource group.

```
reservations:
  gpu: [{size: Standard_NC24ads_A100_v4, zone: "1", quantity: 2}]
  web: [{size: Standard_D4s_v5, quantity: 10}]                    # without a zone: regional
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.market.facts import CatalogueLike
from fakeazure.market.wording import MarketError, hint
from lazyrecords import dataclass

RESERVATIONS = "reservations"
_FIELDS = ("size", "zone", "quantity")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?")


@dataclass(frozen=True, slots=True)
class DeclaredReservation:
    """`quantity` VMs of a size that a group keeps in a zone; `zone` is empty for a regional reservation."""

    group: str
    size: str
    zone: str
    quantity: int

    @property
    def name(self) -> str:
        """Its name in the group: `Standard_D4s_v5-1`."""
        return f"{self.size}-{self.zone}" if self.zone else self.size


def declared_reservations(
    spec: Mapping[str, Any], catalogue: CatalogueLike, region: str
) -> Iterator[DeclaredReservation | MarketError]:
    """Yield the reservations of `spec` in a world in `region`, and every mistake."""
    groups = spec.get(RESERVATIONS) or {}
    if not isinstance(groups, Mapping):
        yield MarketError(RESERVATIONS, f"expected a mapping, found {groups!r}")
        return
    for group, members in groups.items():
        path = f"{RESERVATIONS}.{group}"
        if _NAME.fullmatch(str(group)) is None:
            yield MarketError(path, f"a group's name has letters, digits, _, . and -, at most 80, not {group!r}")
        elif isinstance(members, str) or not isinstance(members, list | tuple) or not members:
            yield MarketError(path, f"expected a list of reservations, found {members!r}")
        else:
            yield from _members(str(group), members, catalogue, region, path)


def _members(
    group: str, members: list[Any] | tuple[Any, ...], catalogue: CatalogueLike, region: str, path: str
) -> Iterator[DeclaredReservation | MarketError]:
    earlier: list[DeclaredReservation] = []
    for index, item in enumerate(members):
        place = f"{path}[{index}]"
        try:
            reservation = _member(group, item, catalogue, region, place)
            if any(other.name == reservation.name for other in earlier):
                raise MarketError(place, f"the group has a reservation of {reservation.size} there already")
            if any(bool(other.zone) != bool(reservation.zone) for other in earlier):
                raise MarketError(
                    f"{place}.zone", "a group is zonal or regional: all of its reservations have a zone, or none"
                )
            earlier.append(reservation)
            yield reservation
        except MarketError as error:
            yield error


def _member(group: str, item: Any, catalogue: CatalogueLike, region: str, path: str) -> DeclaredReservation:
    if not isinstance(item, Mapping):
        raise MarketError(path, f"expected a mapping, found {item!r}")
    for name in item:
        if name not in _FIELDS:
            raise MarketError(path, f"unknown field {name!r}{hint(str(name), _FIELDS)}")
    for name in ("size", "quantity"):
        if name not in item:
            raise MarketError(path, f"needs {name}")
    quantity = item["quantity"]
    if isinstance(quantity, bool) or not isinstance(quantity, int) or quantity < 0:
        raise MarketError(f"{path}.quantity", f"a whole number of 0 or more, not {quantity!r}")
    size, zone = str(item["size"]), str(item.get("zone") or "").rpartition("-")[2]
    if region not in catalogue.regions:  # what is wrong there is told elsewhere
        return DeclaredReservation(group, size, zone, quantity)
    sold = catalogue.region(region).by_name
    name = size if size in sold else {candidate.lower(): candidate for candidate in sold}.get(size.lower())
    if name is None:
        raise MarketError(f"{path}.size", f"{region} does not sell {size!r}{hint(size, sold)}")
    info: Mapping[str, Any] = next(iter(sold[name].get("locationInfo") or ()), {})
    zones = sorted(info.get("zones") or ())
    if zone and zone not in zones:
        raise MarketError(f"{path}.zone", f"{name} has no zone {zone!r} in {region}{hint(zone, zones)}")
    return DeclaredReservation(group, name, zone, quantity)
