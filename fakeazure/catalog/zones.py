"""In which zones of a region a size is sold: as recorded in one subscription, else as its family, or the nearest one, is.

Zone numbers are a subscription's own, so that two subscriptions' lists of a region are never mixed; what a second one adds is
there in the numbers of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from fakeazure.catalog.regions import REGIONS
from fakeazure.catalog.tables import REGIONS_KEPT, Size, Source, read
from lazyrecords import dataclass

__all__ = ["SoldIn", "unlisted", "zones_in", "zones_recorded"]

_ZONES = {str(mask): tuple(zone for zone in "123" if mask >> int(zone) - 1 & 1) for mask in range(8)}


@dataclass(frozen=True, slots=True)
class SoldIn:
    """The zones of a size in a region; `recorded` says where they are recorded, None for a guess, which has a `reason`."""

    zones: tuple[str, ...]
    recorded: Source | None
    reason: str = ""


def zones_in(region: str, sizes: Mapping[str, Size]) -> Mapping[str, SoldIn]:
    """Size → zones of it in a region that has zones, for all sizes given."""
    sold = _recorded(region)
    by_family: dict[str, SoldIn] = {}
    for name, sold_in in sold.items():
        if name in sizes:
            by_family.setdefault(sizes[name].family, sold_in)
    like = read("zones.json.gz")["like"].get(region, {})
    guesses: dict[str, SoldIn] = {}
    result = {}
    for name, size in sizes.items():
        zones_sold = sold.get(name)
        if zones_sold is None:
            zones_sold = guesses.get(size.family)
            if zones_sold is None:
                zones_sold = guesses[size.family] = _guess(region, size.family, by_family, like.get(size.family))
        result[name] = zones_sold
    return result


def zones_recorded(region: str) -> int:
    """Return the number of sizes whose zones in a region are recorded."""
    return len(_recorded(region))


def unlisted(region: str) -> frozenset[str]:
    """Sizes that the recorded subscription was offered without restriction in some region, and not in this one."""
    document = read("zones.json.gz")
    masks = document["regions"].get(region)
    if masks is None:
        return frozenset()
    return frozenset(name for name, mask in zip(document["names"], masks, strict=True) if mask == ".")


@lru_cache(maxsize=REGIONS_KEPT)
def _recorded(region: str) -> Mapping[str, SoldIn]:
    document = read("zones.json.gz")
    recorded: dict[str, SoldIn] = {}
    masks = document["regions"].get(region)
    if masks is not None:
        recorded = _by_mask(zip(document["names"], masks, strict=True), Source(document["source"], document["date"]))
    for name, date, added in document["others"].get(region, ()):
        recorded |= _by_mask(added.items(), Source(name, date))
    return recorded


def _by_mask(masks: Iterable[tuple[str, str]], source: Source) -> dict[str, SoldIn]:
    shared = {mask: SoldIn(zones, source) for mask, zones in _ZONES.items()}
    return {name: shared[mask] for name, mask in masks if mask != "."}


def _guess(region: str, family: str, by_family: Mapping[str, SoldIn], like: str | None) -> SoldIn:
    if family in by_family:
        return SoldIn(by_family[family].zones, None, f"those of other sizes of {family} in {region}")
    if like is not None and like in by_family:
        return SoldIn(by_family[like].zones, None, f"those of {like}, the nearest family recorded in {region}")
    why = "no family near it is recorded there" if by_family else "no list of the region's zones is recorded"
    return SoldIn(REGIONS[region].zones, None, f"all of {region}: {why}")
