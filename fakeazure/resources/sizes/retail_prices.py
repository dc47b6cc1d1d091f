"""The retail prices API (prices.azure.com): no token, its own paging, one item for each row of the price list.

The list has several rows of one ARM size (Linux, Windows, "Cloud Services", Low Priority, Spot, reservations), of which clients take one or
another. A size that a world prices has the rows of its Linux price alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.catalog.prices.locations import LOCATIONS
from fakeazure.catalog.prices.rows import PriceRow
from fakeazure.guids import guid_of
from fakeazure.state import State
from lazyrecords import dataclass

PATH = "/api/retail/prices"
PAGE = 1000
ORIGIN = "https://prices.azure.com"
PREVIEW = "2023-01-01-preview"
"""From this version on items have savings plans, and values of a filter compare with case."""
CURRENCIES = {"USD": 1.0, "EUR": 0.86}
"""How much of it is a dollar. Azure sets its rate anew each month; this one is of no particular month."""
_FIELDS = (
    "currencyCode", "tierMinimumUnits", "retailPrice", "unitPrice", "armRegionName", "location", "effectiveStartDate", "meterId",
    "meterName", "productId", "skuId", "productName", "skuName", "serviceName", "serviceId", "serviceFamily", "unitOfMeasure", "type",
    "priceType", "reservationTerm", "isPrimaryMeterRegion", "armSkuName",
)  # fmt: skip
_MOST, _SHORT = 100_000_000, 100
"""Characters of a filter times rows that it looks at: all rows of all regions by a short filter, those of one by the longest."""
_LETTERS = "0123456789BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True, slots=True)
class _Query:
    """What a request asks for. `top`: items of all pages together, None for all."""

    filter: str
    skip: int
    top: int | None
    currency: str
    preview: bool

    @property
    def fields(self) -> dict[str, bool]:
        """Names that a filter may ask for, each with whether its values compare without case."""
        return dict.fromkeys(_FIELDS, not self.preview)

    def price(self, usd: float) -> float:
        """A price in the currency."""
        rate = CURRENCIES[self.currency]
        return usd if rate == 1.0 else round(usd * rate, 6)


def _read(request: Request) -> _Query:
    """FilterError for what the list does not understand."""
    query = {name.lower(): value for name, value in request.query.items()}
    currency = query.get("currencycode", "USD").strip("'\"").upper()
    if currency not in CURRENCIES:
        raise FilterError(f"prices are known in {' and '.join(CURRENCIES)}, not in {currency[:20]!r}")
    top = query.get("$top")
    return _Query(
        filter=query.get("$filter", ""),
        skip=_number("$skip", query.get("$skip", "0")),
        top=None if top is None else _number("$top", top),
        currency=currency,
        preview=request.api_version == PREVIEW,
    )


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise FilterError(f"{name} is no number: {text[:100]!r}")
    return int(text)


def _items(state: State, query: _Query) -> Iterator[dict[str, Any]]:
    """The items that a filter lets pass, region after region; those of regions and sizes that it excludes are not made."""
    wanted = parse_filter(query.filter, query.fields)
    of_region = parse_filter(query.filter, query.fields, frozenset({"armRegionName", "location"}))
    of_size = parse_filter(query.filter, query.fields, frozenset({"armSkuName"}))
    looked_at = 0
    for region in state.market.priced_regions():
        place = {"armRegionName": region, "location": LOCATIONS.get(region, region)}
        for row in state.market.price_rows(region) if of_region(place) else ():
            if not of_size({"armSkuName": row.size}):
                continue
            looked_at += max(_SHORT, len(query.filter))
            if looked_at > _MOST:
                raise FilterError("the filter is too long for the rows of so many regions; name a region and a size")
            item = _item(row, region, query)
            if wanted(item):
                yield item


def _item(row: PriceRow, region: str, query: _Query) -> dict[str, Any]:
    product = f"DZH318Z0{_code(row.product, 4)}"
    item = {
        "currencyCode": query.currency,
        "tierMinimumUnits": 0.0,
        "retailPrice": query.price(row.usd),
        "unitPrice": query.price(row.usd),
        "armRegionName": region,
        "location": LOCATIONS.get(region, region),
        "effectiveStartDate": "2025-01-01T00:00:00Z",
        "meterId": guid_of(f"{row.product}/{row.meter}/{region}"),
        "meterName": row.meter,
        "productId": product,
        "skuId": f"{product}/{_code(f'{row.product}/{row.sku}/{region}', 4)}",
        "productName": row.product,
        "skuName": row.sku,
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Reservation" if row.term else "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": row.size,
    }
    item["priceType"] = item["type"]
    if row.term:
        item["reservationTerm"] = row.term
    if row.savings and query.preview:
        item["savingsPlan"] = [
            {"unitPrice": query.price(usd), "retailPrice": query.price(usd), "term": term} for term, usd in row.savings
        ]
    return item


def _code(text: str, length: int) -> str:
    """A code of letters and digits that always belongs to a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def _list(state: State, request: Request) -> Response:
    try:
        query = _read(request)
        count = PAGE if query.top is None else min(PAGE, query.top)
        page = list(islice(_items(state, query), query.skip, query.skip + count + 1))
    except FilterError as error:
        return Response(400, body={"Error": {"Code": "InvalidFilter", "Message": str(error)}})
    shown, left = page[:count], None if query.top is None else query.top - count
    following = None
    if len(page) > count and left != 0:
        more = {} if left is None else {"$top": str(left)}
        others = {name: value for name, value in request.query.items() if name.lower() not in ("$skip", "$top")}
        following = f"{ORIGIN}{PATH}?{urlencode({**others, '$skip': str(query.skip + count), **more})}"
    body = {
        "BillingCurrency": query.currency,
        "CustomerEntityId": "Default",
        "CustomerEntityType": "Retail",
        # a filter asks for priceType, items call it type
        "Items": [{name: value for name, value in item.items() if name != "priceType"} for item in shown],
        "NextPageLink": following,
        "Count": len(shown),
    }
    return Response(200, body=body)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", PATH, _list, versioned=False)
