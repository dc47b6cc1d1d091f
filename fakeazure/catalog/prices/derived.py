"""Facts derived from the recorded lists, kept so that nobody who asks for a price reads them: `python -m
tools.derived_prices` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from fakeazure.catalog.tables import read
from lazyrecords import dataclass

__all__ = ["Derived", "derived"]

FILE = "derived-prices.json.gz"


@dataclass(frozen=True, slots=True)
class Derived:
    """`cloud_services`, `windows`: what a size's row costs more than Linux, USD per hour. `fractions`: family → usual fraction of spot in
    the recorded regions of Europe. `restored`: region → size → Linux price. `spot`: sizes with spot rows. `beside_linux`: what the row
    that is taken for Linux's costs more; `beside_spot`: sizes that have such a row on spot."""

    cloud_services: Mapping[str, float]
    windows: Mapping[str, float]
    fractions: Mapping[str, float]
    restored: Mapping[str, Mapping[str, float]]
    spot: frozenset[str]
    beside_linux: Mapping[str, float]
    beside_spot: frozenset[str]


@cache
def derived() -> Derived:
    """The facts of the package."""
    document: Mapping[str, Any] = read(FILE)

    def table(name: str) -> Mapping[str, Any]:
        return MappingProxyType(document[name])

    return Derived(
        cloud_services=table("cloud_services"),
        windows=table("windows"),
        fractions=table("fractions"),
        restored=table("restored"),
        spot=frozenset(document["spot"]),
        beside_linux=table("beside_linux"),
        beside_spot=frozenset(document["beside_spot"]),
    )
