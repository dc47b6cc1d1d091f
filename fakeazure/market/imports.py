"""An account's own lists as a market: its quota from its usages, its prices from Azure's price list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fakeazure.catalog.errors import CatalogueError
from fakeazure.catalog.prices.rows import PriceRow
from fakeazure.market.facts import CatalogueLike
from fakeazure.market.quota import GENERAL
from fakeazure.market.wording import families


def quota_of(usages: Any, catalogue: CatalogueLike) -> tuple[dict[str, int], int]:
    """`quota:` from `az vm list-usage -o json` or ARM's own list, and how many entries are about something else. CatalogueError."""
    usage_names = {name.lower(): name for name in (*GENERAL, *families(catalogue))}
    quota: dict[str, int] = {}
    others = 0
    for entry in _entries(usages, "usages"):
        name = entry.get("name")
        value = str(name.get("value", "")) if isinstance(name, Mapping) else ""
        limit = _number(entry.get("limit"))
        if value.lower() in usage_names and limit is not None and limit >= 0:
            quota[usage_names[value.lower()]] = int(limit)
        else:
            others += 1
    if not quota:
        raise CatalogueError("no usage of a region: give the output of az vm list-usage -o json")
    return quota, others


def prices_of(items: Any, region: str) -> tuple[list[PriceRow], int]:
    """The rows of a region from answers of the retail prices API, and how many items are about something else. CatalogueError.

    All rows of an hour's use and of reservations are kept, also those that clients pass over; those of the primary meter first.
    """
    rows: list[PriceRow] = []
    others = 0
    for item in sorted(_entries(items, "prices"), key=lambda price: price.get("isPrimaryMeterRegion") is False):
        usd, term = _number(item.get("retailPrice", item.get("unitPrice"))), str(item.get("reservationTerm") or "")
        elsewhere = str(item.get("armRegionName", "")).lower() != region
        other = item.get("type", "Consumption") != ("Reservation" if term else "Consumption")
        if (
            not item.get("armSkuName")
            or usd is None
            or elsewhere
            or other
            or item.get("unitOfMeasure", "1 Hour") != "1 Hour"
        ):
            others += 1
            continue
        if item.get("currencyCode", "USD") != "USD":
            raise CatalogueError(f"prices in {str(item['currencyCode'])[:20]!r}: ask for them in USD")
        plans = [plan for plan in item.get("savingsPlan") or () if isinstance(plan, Mapping)]
        savings = tuple((str(plan.get("term")), _number(plan.get("retailPrice")) or 0.0) for plan in plans)
        product, sku, meter = (str(item.get(name) or "") for name in ("productName", "skuName", "meterName"))
        rows.append(PriceRow(product, sku, meter, str(item["armSkuName"]), usd, term, savings))
    if not any(not row.term for row in rows):
        raise CatalogueError(
            f"no price of a size in {region}: give answers of https://prices.azure.com/api/retail/prices"
        )
    return list(dict.fromkeys(rows)), others


def _entries(document: Any, subject: str) -> Iterable[Mapping[str, Any]]:
    """The entries of a list, of an answer that holds one, or of several answers."""
    if isinstance(document, Mapping):
        document = next((document[name] for name in ("value", "Items", "items") if name in document), None)
    if not isinstance(document, list):
        raise CatalogueError(f"no list of {subject}")
    for entry in document:
        if not isinstance(entry, Mapping):
            raise CatalogueError(f"no list of {subject}: an entry is {entry!r}"[:200])
        if "Items" in entry:
            yield from _entries(entry, subject)
        else:
            yield entry


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
