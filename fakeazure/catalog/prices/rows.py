"""Rows of the retail list of virtual machines: what a row is the price of, by rule, and the recorded ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from fakeazure.catalog.tables import REGIONS_KEPT, Source, read

__all__ = [
    "Kind",
    "Observed",
    "PriceRow",
    "Priority",
    "Software",
    "kind_of",
    "observed",
    "recorded_regions",
    "recorded_rows",
]

_WINDOWS = re.compile(r" Win(dows)?$")
_CLOUD_SERVICES = re.compile(r" Cloud ?Services$")
_HOST = re.compile(r" Dedicated ?Host$")


class Software(StrEnum):
    """The software that is billed with the machine, which the product's name tells."""

    LINUX = "linux"
    WINDOWS = "windows"
    CLOUD_SERVICES = "cloud services"
    HOST = "dedicated host"


class Priority(StrEnum):
    """The priority of a machine, which the SKU's name tells."""

    REGULAR = "regular"
    SPOT = "spot"
    LOW = "low priority"


class Kind(NamedTuple):
    """The kind of a row's price."""

    software: Software
    priority: Priority


LINUX = Kind(Software.LINUX, Priority.REGULAR)
LINUX_SPOT = Kind(Software.LINUX, Priority.SPOT)
CLOUD_SERVICES = Kind(Software.CLOUD_SERVICES, Priority.REGULAR)
WINDOWS = Kind(Software.WINDOWS, Priority.REGULAR)


class PriceRow(NamedTuple):
    """A row of the list: names as Azure writes them, `size` as ARM does, USD per hour.

    `term`: "1 Year" or "3 Years" of a reservation, whose price is that of the whole term, else "". `savings`: USD per hour by term of
    a savings plan.
    """

    product: str
    sku: str
    meter: str
    size: str
    usd: float
    term: str = ""
    savings: tuple[tuple[str, float], ...] = ()

    @property
    def kind(self) -> Kind:
        """Return the kind of its price."""
        return kind_of(self.product, self.sku)


@lru_cache(maxsize=1 << 15)
def kind_of(product: str, sku: str) -> Kind:
    """Return the kind of a row's price, by the names of its product and SKU.

    "Cloud Services" is also written "CloudServices", "Dedicated Host" also "DedicatedHost", and "… Srs Win" is a Windows price.
    """
    if _CLOUD_SERVICES.search(product):
        software = Software.CLOUD_SERVICES
    elif _HOST.search(product):
        software = Software.HOST
    else:
        software = Software.WINDOWS if _WINDOWS.search(product) else Software.LINUX
    if sku.endswith(" Spot"):
        return Kind(software, Priority.SPOT)
    return Kind(software, Priority.LOW if sku.endswith(" Low Priority") else Priority.REGULAR)


Observed = Mapping[str, Mapping[Kind, Mapping[str, float]]]
"""Region → kind → size → USD per hour, of regions whose list is recorded."""


def recorded_regions() -> tuple[str, ...]:
    """The regions whose retail list is recorded."""
    return tuple(read("retail-rows.json.gz")["regions"])


def list_source() -> Source:
    """Return the source of the lists, and their day."""
    document = read("retail-rows.json.gz")
    return Source(document["source"], document["date"])


@lru_cache(maxsize=REGIONS_KEPT)
def recorded_rows(region: str) -> tuple[PriceRow, ...]:
    """All rows of a recorded region, in the order of their products; none of another one."""
    document = read("retail-rows.json.gz")
    if region not in document["regions"]:
        return ()
    place, products = document["regions"].index(region), document["products"]
    rows = []
    for product, sku, meter, size, prices in document["rows"]:
        usd = prices.split(",")[place]
        if usd:
            rows.append(PriceRow(products[product], sku, meter or sku, size, float(usd)))
    return tuple(rows)


def by_kind(rows: Iterable[PriceRow]) -> Mapping[Kind, Mapping[str, float]]:
    """The prices of an hour's use by kind and size; of several rows of one kind and size the first."""
    prices: dict[Kind, dict[str, float]] = {}
    for row in rows:
        if not row.term:
            prices.setdefault(row.kind, {}).setdefault(row.size, row.usd)
    return MappingProxyType(prices)


@cache
def observed() -> Observed:
    """The prices of all recorded regions."""
    return MappingProxyType({region: by_kind(recorded_rows(region)) for region in recorded_regions()})
