"""Changes of a world's offer against the catalogue: sizes added or changed, regions added or changed.

```
regions:
  moon: {like: eastus, zones: ["1", "2"]}                       # a region of its own; or another layout of one that there is
sizes:
  Standard_D4s_v5: {zones: ["1"], capabilities: {MaxDataDiskCount: 4}, price: 0.3}
  Standard_X8_v9: {like: Standard_D8s_v5, family: standardXv9Family, price: 0.5, spot: 0.1, regions: [eastus, moon]}
```

A size is changed in the world's region unless `regions` names others. A capability that is null is taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

from fakeazure.catalog.catalogue import Catalogue, RegionCatalogue
from fakeazure.catalog.errors import CatalogueError
from fakeazure.catalog.locations import location_key
from fakeazure.catalog.records import Record
from fakeazure.market.facts import CatalogueLike
from fakeazure.market.wording import MarketError, hint

Known = TypeVar("Known", bound=CatalogueLike)
AMENDMENTS = ("regions", "sizes")
_SIZE = ("like", "family", "zones", "capabilities", "price", "spot", "regions")
_REGION = ("like", "zones")
_NAME = re.compile(r"[A-Za-z0-9]+_[A-Za-z0-9._-]+")
_NEEDED = ("vCPUs", "MemoryGB")


def amended(catalogue: Known, spec: Mapping[str, Any], region: str) -> Known:
    """The catalogue of a world in `region` that `spec` describes; the catalogue itself where it says nothing. Raises MarketError."""
    for step in _steps(catalogue, spec, region):
        if isinstance(step, MarketError):
            raise step
        catalogue = cast("Known", step)
    return catalogue


def amendment_mistakes(catalogue: Known, spec: Mapping[str, Any], region: str) -> tuple[Known, list[MarketError]]:
    """The catalogue with what can be amended, and every mistake in the rest."""
    wrong = []
    for step in _steps(catalogue, spec, region):
        if isinstance(step, MarketError):
            wrong.append(step)
        else:
            catalogue = cast("Known", step)
    return catalogue, wrong


def _steps(catalogue: CatalogueLike, spec: Mapping[str, Any], region: str) -> Iterator[CatalogueLike | MarketError]:
    """After each entry the catalogue as it is then, or what is wrong with the entry."""
    for section, amend in (("regions", _with_region), ("sizes", _with_size)):
        entries = spec.get(section) or {}
        if not isinstance(entries, Mapping):
            yield MarketError(section, f"expected a mapping, found {entries!r}")
            continue
        for name, change in entries.items():
            path = f"{section}.{name}"
            try:
                if not isinstance(catalogue, Catalogue):
                    raise MarketError(section, "this catalogue cannot be changed")
                if not isinstance(change, Mapping):
                    raise MarketError(path, f"expected a mapping, found {change!r}")
                catalogue = amend(catalogue, str(name), change, path, region)
                yield catalogue
            except MarketError as error:
                yield error
            except CatalogueError as error:
                yield MarketError(path, str(error))


def _with_region(catalogue: Catalogue, name: str, change: Mapping[str, Any], path: str, region: str) -> Catalogue:
    _known(change, _REGION, path)
    if not re.fullmatch(r"[a-z0-9]+", name):
        raise MarketError(path, f"a region's short name has lower-case letters and digits, not {name!r}")
    like = change.get("like", name if name in catalogue.regions else region)
    base = catalogue.region(str(like))
    zones = _zones(change, f"{path}.zones") if "zones" in change else base.zones
    records = {size: _moved(record, name, zones) for size, record in base.by_name.items()}
    return catalogue.with_region(
        replace(
            base,
            name=name,
            zones=zones,
            skus=tuple(records.values()),
            by_name=MappingProxyType(records),
            given=base.given if name == base.name else frozenset(records),
        )
    )


def _moved(record: Record, region: str, zones: tuple[str, ...]) -> Record:
    """A record as another region has it, in those of its zones that are there."""
    [info, *_] = record["locationInfo"]
    own_zones = [zone for zone in info["zones"] if zone in zones]
    details = [{**detail, "Name": own_zones} for detail in info.get("zoneDetails") or () if own_zones]
    return {
        **record,
        "locations": [region],
        "locationInfo": [{**info, "location": region, "zones": own_zones, "zoneDetails": details}],
    }


def _with_size(catalogue: Catalogue, name: str, change: Mapping[str, Any], path: str, region: str) -> Catalogue:
    _known(change, _SIZE, path)
    if _NAME.fullmatch(name) is None:
        raise MarketError(path, f"a size's name is like Standard_D4s_v5, not {name!r}")
    places = change.get("regions", [region])
    if isinstance(places, str) or not isinstance(places, list | tuple) or not places:
        raise MarketError(f"{path}.regions", f"expected a list of regions, found {places!r}")
    for place in places:
        if location_key(str(place)) not in catalogue.regions:
            raise MarketError(f"{path}.regions", f"unknown region {place!r}{hint(str(place), catalogue.regions)}")
        catalogue = catalogue.with_region(_selling(catalogue, catalogue.region(place), name, change, path))
    return catalogue


def _selling(
    catalogue: Catalogue, region: RegionCatalogue, name: str, change: Mapping[str, Any], path: str
) -> RegionCatalogue:
    """A region that sells a size as the change says."""
    record = _record(catalogue, region, name, change, path)
    by_name = dict(sorted({**region.by_name, name: record}.items()))
    prices, spot = dict(region.prices), dict(region.spot_prices)
    like = str(change.get("like", name))
    usd = _usd(change, "price", path, prices.get(name, prices.get(like)))
    for table, price in ((prices, usd), (spot, _usd(change, "spot", path, usd))):
        if price is None:
            table.pop(name, None)
        else:
            table[name] = price
    return replace(
        region,
        skus=tuple(by_name.values()),
        by_name=MappingProxyType(by_name),
        prices=MappingProxyType(prices),
        spot_prices=MappingProxyType(spot),
        given=region.given | {name},
    )


def _record(catalogue: Catalogue, region: RegionCatalogue, name: str, change: Mapping[str, Any], path: str) -> Record:
    base = _base(catalogue, region, name, change, path)
    capabilities = {pair["name"]: pair["value"] for pair in base.get("capabilities", ())}
    capabilities_given = change.get("capabilities") or {}
    if not isinstance(capabilities_given, Mapping):
        raise MarketError(f"{path}.capabilities", f"expected a mapping, found {capabilities_given!r}")
    for key, value in capabilities_given.items():
        if value is None:
            capabilities.pop(str(key), None)
        elif isinstance(value, bool | str | int | float):
            capabilities[str(key)] = str(value)
        else:
            raise MarketError(f"{path}.capabilities.{key}", f"a text or a number is expected, not {value!r}")
    missing = [name for name in _NEEDED if name not in capabilities]
    if missing:
        raise MarketError(path, f"a new size needs `like` or the capabilities {' and '.join(missing)}")
    for key in _NEEDED:
        if not re.fullmatch(r"\d+(\.\d+)?", capabilities[key]):
            raise MarketError(f"{path}.capabilities.{key}", f"a number is expected, not {capabilities[key]!r}")
    info: Mapping[str, Any] = next(iter(base.get("locationInfo", ())), {})
    zones = list(_zones(change, f"{path}.zones")) if "zones" in change else list(info.get("zones", region.zones))
    if lost := [zone for zone in zones if zone not in region.zones]:
        raise MarketError(f"{path}.zones", f"{region.name} has no zone {lost[0]!r}{hint(lost[0], region.zones)}")
    details = [{**info_of_zone, "Name": zones} for info_of_zone in info.get("zoneDetails") or () if zones]
    tier, _, short = name.partition("_")
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "tier": tier,
        "size": short,
        "family": str(change.get("family", base.get("family", f"standard{short.split('_')[0]}Family"))),
        "locations": [region.name],
        "locationInfo": [{"location": region.name, "zones": zones, "zoneDetails": details}],
        "capabilities": [{"name": key, "value": value} for key, value in capabilities.items()],
        "restrictions": list(base.get("restrictions", ())),
    }


def _base(catalogue: Catalogue, region: RegionCatalogue, name: str, change: Mapping[str, Any], path: str) -> Record:
    """Return the record that a size is made from: its own, or that of the one that it is like; nothing for one of a new kind."""
    if "like" not in change:
        return region.by_name.get(name, {})
    like = str(change["like"])
    if like in region.by_name:
        return region.by_name[like]
    sellers = catalogue.sellers(like)
    if not sellers:
        raise MarketError(f"{path}.like", f"unknown size {like!r}{hint(like, region.by_name)}")
    return _moved(catalogue.region(sellers[0]).by_name[like], region.name, region.zones)


def _usd(change: Mapping[str, Any], key: str, path: str, otherwise: float | None) -> float | None:
    value = change.get(key, otherwise)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9):
        raise MarketError(f"{path}.{key}", f"USD per hour of 0 or more, not {value!r}")
    return None if value is None else float(value)


def _zones(change: Mapping[str, Any], path: str) -> tuple[str, ...]:
    value = change["zones"]
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise MarketError(path, f"expected a list of zones, found {value!r}")
    zones = tuple(str(zone) for zone in value)
    if wrong := [zone for zone in zones if not re.fullmatch(r"[1-9]", zone)]:
        raise MarketError(path, f"zones are numbers from 1, not {wrong[0]!r}")
    return tuple(sorted(dict.fromkeys(zones)))


def _known(change: Mapping[str, Any], names: tuple[str, ...], path: str) -> None:
    for name in change:
        if name not in names:
            raise MarketError(path, f"unknown field {name!r}{hint(str(name), names)}")
