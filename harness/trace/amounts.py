"""Amounts of resources as numbers: cores, bytes, pieces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from harness.kube.api.quantity import NANO, Quantity, QuantityError
from harness.kube.api.resources import ResourceList

__all__ = ["amounts", "numbers"]


def amounts(resources: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the amounts of a manifest's map of resources; a value that is no quantity is left out."""
    parsed = {name: _number(str(text)) for name, text in (resources or {}).items()}
    return {name: number for name, number in parsed.items() if number is not None}


def numbers(resources: ResourceList) -> dict[str, float]:
    """Return the amounts of quantities that are parsed already."""
    return {name: _plain(quantity.nano) for name, quantity in resources.items()}


@lru_cache(maxsize=4096)
def _number(text: str) -> float | None:
    try:
        return _plain(Quantity.stored(text).nano)
    except QuantityError:
        return None


def _plain(nano: int) -> float:
    whole, rest = divmod(nano, NANO)
    return whole if not rest else nano / NANO
