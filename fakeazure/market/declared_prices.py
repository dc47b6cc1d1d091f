"""`prices` in the description of a market: by size; rows of the price list with the fields of its items; or a word for all.

```
prices: {Standard_D2s_v5: 0.05, Standard_D4s_v5@westus: {on-demand: 0.2, spot: 0.04}, "*": static}
prices: static
prices:
- productName: Virtual Machines Dasv5 Series
  armSkuName: Standard_D4as_v5
  skuName: Standard_D4as_v5
  meterName: D4as v5
  retailPrice: 0.172
```

`static`: the list does not answer, so that clients keep the prices that they have; `live`, the default: it does. `armRegionName`: the
region, any when absent. `reservationTerm` and `savingsPlan` as in the list. Rows take the place of all rows of their sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fakeazure.catalog.prices.rows import PriceRow
from fakeazure.market.prices import ON_DEMAND, SPOT, Prices
from fakeazure.market.wording import MarketError, hint, one_of

__all__ = ["FIELDS", "LIVE", "STATIC", "declare_prices", "item_of", "price_checks", "row_of"]

LIVE, STATIC = "live", "static"
_ALL = "*"

_TEXTS = ("armSkuName", "productName", "skuName", "meterName")
FIELDS = (*_TEXTS, "armRegionName", "retailPrice", "reservationTerm", "savingsPlan")
"""The fields of an item that a market takes over."""


def declare_prices(declared: Any, prices: Prices) -> Prices:
    """Declare what a description says of prices. MarketError."""
    for check in price_checks(declared, prices):
        check()
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        rows: dict[str, list[PriceRow]] = {}
        for number, item in enumerate(declared):
            region, row = row_of(item, f"prices[{number}]")
            rows.setdefault(region, []).append(row)
        for region, listed in rows.items():
            prices.list_rows(listed, region)
    return prices


def price_checks(declared: Any, prices: Prices | None = None) -> Iterator[Callable[[], object]]:
    """One call for each part; it raises MarketError where the part is wrong, else declares it, but for rows."""
    prices = Prices() if prices is None else prices
    if isinstance(declared, str):
        yield partial(_serve, declared, prices)
    elif isinstance(declared, Sequence):
        for index, item in enumerate(declared):
            yield partial(row_of, item, f"prices[{index}]")
    elif declared is None or isinstance(declared, Mapping):
        for name, value in (declared or {}).items():
            yield partial(_serve, value, prices) if name == _ALL else partial(_declare, str(name), value, prices)
    else:
        yield partial(_refuse, declared)


def _refuse(declared: Any) -> None:
    raise MarketError("prices", f"expected a mapping, a list of rows, {LIVE} or {STATIC}, found {declared!r}")


def _serve(word: Any, prices: Prices) -> None:
    one_of(str(word), (LIVE, STATIC), "prices")
    prices.served = word == LIVE


def _declare(name: str, value: Any, prices: Prices) -> None:
    """The prices of a size, `SIZE` or `SIZE@REGION`."""
    size, _, location = name.partition("@")
    kinds = value if isinstance(value, Mapping) else {ON_DEMAND: value}
    for kind, usd in kinds.items():
        if kind not in (ON_DEMAND, SPOT):
            raise MarketError(f"prices.{name}", f"unknown field {kind!r}{hint(str(kind), (ON_DEMAND, SPOT))}")
        if usd is not None and (isinstance(usd, bool) or not isinstance(usd, int | float) or usd < 0):
            raise MarketError(f"prices.{name}", f"USD per hour of 0 or more, not {usd!r}")
        prices.set(size, None if usd is None else float(usd), kind=kind, location=location or "*")


def row_of(item: Any, path: str) -> tuple[str, PriceRow]:
    """The region of a row, `*` for any, and the row. MarketError."""
    if not isinstance(item, Mapping):
        raise MarketError(path, f"expected a mapping, found {item!r}")
    for name in item:
        if name not in FIELDS:
            raise MarketError(f"{path}.{name}", f"unknown field {name!r}{hint(str(name), FIELDS)}")
    for name in _TEXTS:
        if not isinstance(item.get(name), str) or not item[name]:
            raise MarketError(f"{path}.{name}", f"a text is expected, not {item.get(name)!r}")
    region, term = item.get("armRegionName", "*"), item.get("reservationTerm", "")
    for name, text in (("armRegionName", region), ("reservationTerm", term)):
        if not isinstance(text, str):
            raise MarketError(f"{path}.{name}", f"a text is expected, not {text!r}")
    savings = item.get("savingsPlan") or ()
    if not isinstance(savings, Sequence) or not all(isinstance(plan, Mapping) for plan in savings):
        raise MarketError(f"{path}.savingsPlan", "a list of term and retailPrice is expected")
    plans = tuple((str(plan.get("term", "")), _usd(plan, f"{path}.savingsPlan")) for plan in savings)
    return region.lower(), PriceRow(
        item["productName"], item["skuName"], item["meterName"], item["armSkuName"], _usd(item, path), term, plans
    )


def _usd(item: Mapping[str, Any], path: str) -> float:
    usd = item.get("retailPrice")
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 <= usd < float("inf"):
        raise MarketError(f"{path}.retailPrice", f"USD of 0 or more, not {usd!r}")
    return float(usd)


def item_of(region: str, row: PriceRow) -> dict[str, Any]:
    """A row as a market's description has it."""
    item: dict[str, Any] = {
        "armRegionName": region,
        "productName": row.product,
        "skuName": row.sku,
        "meterName": row.meter,
        "armSkuName": row.size,
        "retailPrice": row.usd,
    }
    if row.term:
        item["reservationTerm"] = row.term
    if row.savings:
        item["savingsPlan"] = [{"term": term, "retailPrice": usd} for term, usd in row.savings]
    return item
