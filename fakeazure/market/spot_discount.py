"""A supposed discount on spot, for what-ifs: every spot price of the list is the price on demand of its product less the discount.

The price of a size that a world declares on spot by itself stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fakeazure.catalog.prices.linux_view import LinuxView
from fakeazure.catalog.prices.rows import PriceRow, Priority, Software
from fakeazure.market.wording import MarketError

__all__ = ["SPOT_DISCOUNT", "discounted", "discounted_rows", "discounted_view", "percent", "spot_discount_of"]

SPOT_DISCOUNT = "spotDiscount"
"""The field of a market's description."""

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?)%")


def spot_discount_of(spec: Mapping[str, Any]) -> float | None:
    """The part of the price on demand that spot is supposed to cost less; None where a description supposes nothing. MarketError."""
    text = spec.get(SPOT_DISCOUNT)
    if text is None:
        return None
    match = _PERCENT.fullmatch(text) if isinstance(text, str) else None
    if match is None or float(match.group(1)) >= 100:
        raise MarketError(
            SPOT_DISCOUNT, f"a percentage from 0% to less than 100% is expected, such as 70%, not {text!r}"
        )
    return round(float(match.group(1)) / 100, 6)


def percent(discount: float) -> str:
    """`70%`: a discount as it is written."""
    return f"{discount * 100:.6g}%"


def discounted(usd: float, discount: float) -> float:
    """A price on spot by the price on demand, to a millionth as the list has it."""
    return round(usd * (1 - discount), 6)


def discounted_rows(rows: Iterable[PriceRow], discount: float) -> list[PriceRow]:
    """The rows with other prices on spot; a row on spot whose product has no price on demand of the size stays."""
    rows = list(rows)
    regular: dict[tuple[str, Software], float] = {}
    for row in rows:
        if row.kind.priority is Priority.REGULAR and not row.term:
            regular.setdefault((row.size, row.kind.software), row.usd)
    changed = []
    for row in rows:
        usd = regular.get((row.size, row.kind.software)) if row.kind.priority is Priority.SPOT else None
        changed.append(row if usd is None else row._replace(usd=discounted(usd, discount)))
    return changed


def discounted_view(view: LinuxView, discount: float) -> LinuxView:
    """The same for the prices of machines with Linux."""
    spot = {
        size: discounted(view.linux[size], discount) if size in view.linux else usd for size, usd in view.spot.items()
    }
    beside = {
        size: tuple(discounted(usd, discount) for usd in view.beside_linux[size]) if size in view.beside_linux else usds
        for size, usds in view.beside_spot.items()
    }
    return replace(view, spot=spot, beside_spot=beside)
