"""The rows of a region whose list is not recorded: as the recorded lists name a size's rows, at prices that follow from its own.

What "Cloud Services" and Windows cost more is a size's own in all regions; spot is a guess (`spot`); Low Priority costs a fifth of
Linux and two fifths of Windows, as in all recorded rows. A size that no recorded list has gets the rows of Linux alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from fakeazure.catalog.prices.derived import derived
from fakeazure.catalog.prices.price_file import TERMS, SizePrices
from fakeazure.catalog.prices.rows import (
    CLOUD_SERVICES,
    LINUX,
    LINUX_SPOT,
    Kind,
    PriceRow,
    Priority,
    Software,
    recorded_regions,
    recorded_rows,
)  # fmt: skip
from fakeazure.catalog.prices.spot import guessed_fraction
from fakeazure.catalog.tables import sizes

_LOW = {Software.LINUX: 0.2, Software.CLOUD_SERVICES: 0.4, Software.WINDOWS: 0.4}
_SERIES = re.compile(r"(?:Standard|Basic)_([A-Z]+)\d+(?:-\d+)?([a-z]*)(?:_(.+))?")


@cache
def listed_names() -> Mapping[str, Mapping[Kind, tuple[str, str, str]]]:
    """Size → kind → product, SKU and meter, as the recorded lists have them; without dedicated hosts."""
    names: dict[str, dict[Kind, tuple[str, str, str]]] = {}
    for region in recorded_regions():
        for row in recorded_rows(region):
            if row.kind.software is not Software.HOST:
                names.setdefault(row.size, {}).setdefault(row.kind, (row.product, row.sku, row.meter))
    return MappingProxyType(names)


def _surcharge(software: Software) -> Mapping[str, float]:
    return derived().windows if software is Software.WINDOWS else derived().cloud_services


def product_of(size: str) -> str:
    """The product by series of a size that no recorded list has: Standard_D4s_v9 is of "Virtual Machines Dsv9 Series"."""
    parts = _SERIES.fullmatch(size)
    letters, features, rest = parts.groups("") if parts is not None else (size, "", "")
    return f"Virtual Machines {letters}{features}{rest.replace('_', '')} Series"


def names_of(size: str, kind: Kind) -> tuple[str, str, str]:
    """Product, SKU and meter of a size's row: as a recorded list has them, else by the series."""
    listed = listed_names().get(size, {}).get(kind)
    if listed is not None:
        return listed
    bare = size.removeprefix("Standard_").removeprefix("Basic_").replace("_", " ")
    sku = f"{bare} Spot" if kind.priority is Priority.SPOT else bare
    product = product_of(size) + (" Windows" if kind.software is Software.WINDOWS else "")
    return product, sku, sku


def rows_of_sizes(
    region: str, linux: Mapping[str, float], recorded: Mapping[str, SizePrices] = MappingProxyType({})
) -> tuple[PriceRow, ...]:
    """The rows of a region by its Linux prices, in the order of products; what a price file has of a size goes first."""
    rows: list[PriceRow] = []
    for size in {**linux, **recorded}:
        own = recorded.get(size)
        prices = dict(_derived(region, size, linux[size])) if size in linux and own is None else {}
        if own is not None:
            prices = {**_beside(size, own), **own.by_kind}
        for kind, usd in prices.items():
            names = names_of(size, kind)
            savings = tuple(own.savings.items()) if own is not None and kind == LINUX else ()
            rows.append(PriceRow(*names, size, usd, "", savings))
            if kind == LINUX and own is not None:
                rows += [
                    PriceRow(*names, size, round(usd * TERMS[term], 2), term) for term, usd in own.reserved.items()
                ]
    return tuple(sorted(rows))


def _derived(region: str, size: str, linux: float) -> Iterator[tuple[Kind, float]]:
    """The price of each row that the recorded lists have of a size."""
    kinds = listed_names().get(size) or ((LINUX, LINUX_SPOT) if can_be_spot(size) else (LINUX,))
    regular = {Software.LINUX: linux}
    for software in (Software.WINDOWS, Software.CLOUD_SERVICES):
        added = _surcharge(software).get(size)
        if added is not None:
            regular[software] = round(linux + added, 4)
    fractions = {Priority.REGULAR: 1.0, Priority.SPOT: guessed_fraction(size, region)}
    for kind in kinds:
        if kind.software in regular:
            fraction = _LOW[kind.software] if kind.priority is Priority.LOW else fractions[kind.priority]
            yield kind, round(regular[kind.software] * fraction, 6)


def can_be_spot(size: str) -> bool:
    """Tell whether Azure lists a size as one that spot machines can have."""
    facts = sizes().get(size)
    return facts is not None and {"name": "LowPriorityCapable", "value": "True"} in facts.capabilities


def _beside(size: str, own: SizePrices) -> dict[Kind, float]:
    """The "Cloud Services" row, which a price file leaves out."""
    added = _surcharge(Software.CLOUD_SERVICES).get(size)
    linux = own.by_kind.get(LINUX)
    return {} if added is None or linux is None else {CLOUD_SERVICES: round(linux + added, 4)}
