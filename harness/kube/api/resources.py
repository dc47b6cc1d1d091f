"""Lists of resources: quantities by resource name, and the sums and comparisons that schedulers make.

Source: core pkg/utils/resources/resources.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.quantity import ZERO, Format, Quantity, stored_text

ResourceList = Mapping[str, Quantity]


def parse_list(obj: Mapping[str, Any] | None) -> dict[str, Quantity]:
    """Quantities of a manifest's resource map, as the API server keeps them (`None` is empty). Raises QuantityError."""
    if not obj:
        return {}
    return {name: stored_text(text) if text.__class__ is str else Quantity.stored(text) for name, text in obj.items()}


def merge(*lists: ResourceList) -> dict[str, Quantity]:
    """Sums by resource name over all lists."""
    amounts: dict[str, int] = {}
    formats: dict[str, Format] = {}
    for resources in lists:
        for name, quantity in resources.items():
            amount = amounts.get(name, 0)
            if not amount:  # as Go's Add, which takes over the format of an amount that it adds to nothing
                formats[name] = quantity.format
            amounts[name] = amount + quantity.nano
    return {name: Quantity(amount, formats[name]) for name, amount in amounts.items()}


def subtract(total: ResourceList, used: ResourceList) -> dict[str, Quantity]:
    """Return the rest of each resource in `total`; resources that only `used` has do not appear."""
    return {name: quantity - used[name] if name in used else quantity for name, quantity in total.items()}


def fits(requests: ResourceList, total: ResourceList) -> bool:
    """Return whether `total` has room for every request. A negative total never fits anything."""
    if any(quantity.nano < 0 for quantity in total.values()):
        return False
    return all(quantity.nano <= total.get(name, ZERO).nano for name, quantity in requests.items())


def render(resources: ResourceList) -> dict[str, str]:
    """Canonical texts by resource name."""
    return {name: str(quantity) for name, quantity in resources.items()}
