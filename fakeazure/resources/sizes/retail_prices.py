"""The retail prices API (prices.azure.com): no token, its own paging, one item for each row of the price list.

The list has several rows of one ARM size (Linux, Windows, "Cloud Services", Low Priority, Spot, reservations), of which clients take one or
another. A size that a world prices has the rows of its Linux price alone, unless it gives rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from fakeazure.arm.filters import FilterError, fields_of, parse_filter
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.tokens import shortened, whole_number
from fakeazure.catalog.prices.locations import LOCATIONS
from fakeazure.catalog.prices.rows import PriceRow
from fakeazure.guids import new_guid
from fakeazure.market.price_list import PriceList
from fakeazure.state import State
from lazyrecords import dataclass

PATH = "/api/retail/prices"
PAGE = 1000
ORIGIN = "https://prices.azure.com"
PREVIEW = "2023-01-01-preview"
"""From this version on items have savings plans, and values of a filter compare with case."""
CURRENCIES = {"USD": 1.0, "EUR": 0.86}
"""The price of a dollar in each currency. Azure sets its rate anew each month; this one is of no particular month."""
_SHOWN_OF_USE = (
    "currencyCode", "tierMinimumUnits", "retailPrice", "unitPrice", "armRegionName", "location", "effectiveStartDate", "meterId",
    "meterName", "productId", "skuId", "productName", "skuName", "serviceName", "serviceId", "serviceFamily", "unitOfMeasure", "type",
    "isPrimaryMeterRegion", "armSkuName",
)  # fmt: skip
"""The fields of an item; a filter asks for `priceType` where items say `type`."""
_SHOWN = (*_SHOWN_OF_USE, "reservationTerm")
_MOST, _SHORT = 100_000_000, 100
"""Characters of a filter times rows that it looks at: all rows of all regions by a short filter, those of one by the longest."""
_SORTED = 20_000
"""Items that are sorted at most: more than a region has."""
_LETTERS = "0123456789BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True, slots=True)
class _Query:
    """The query of a request. `order`: fields to sort by, each with whether the largest comes first. `top`: items of
    all pages together, None for all.
    """

    filter: str
    order: tuple[tuple[str, bool], ...]
    skip: int
    top: int | None
    currency: str
    preview: bool

    @property
    def fields(self) -> dict[str, bool]:
        """Names that a filter may ask for, each with whether its values compare without case."""
        return dict.fromkeys(_VALUES, not self.preview)

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
        order=_order(query.get("$orderby", "")),
        skip=_number("$skip", query.get("$skip", "0")),
        top=None if top is None else _number("$top", top),
        currency=currency,
        preview=request.api_version == PREVIEW,
    )


def _order(text: str) -> tuple[tuple[str, bool], ...]:
    """OData's `$orderby`: fields in any case, each with `asc` or `desc`. FilterError."""
    names = {name.lower(): name for name in _VALUES}
    order = []
    for part in text.split(",") if text else ():
        name, *direction = part.split()[:3] or [""]
        if name.lower() not in names:
            raise FilterError(f"Could not find a property named '{shortened(name)}'.")
        if [word.lower() for word in direction] not in ([], ["asc"], ["desc"]):
            raise FilterError(f"$orderby is not understood: {shortened(text)!r}")
        order.append((names[name.lower()], direction[-1:] != [] and direction[-1].lower() == "desc"))
    return tuple(order)


def _number(name: str, text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise FilterError(f"{name} is no number: {text[:100]!r}")
    return number


def _product_id(row: PriceRow) -> str:
    return f"DZH318Z0{_code(row.product, 4)}"


Value = Callable[[PriceRow, str, _Query], Any]
_OF_NAMES: Mapping[str, Value] = {
    "currencyCode": lambda row, region, query: query.currency,
    "tierMinimumUnits": lambda row, region, query: 0.0,
    "effectiveStartDate": lambda row, region, query: "2025-01-01T00:00:00Z",
    "meterName": lambda row, region, query: row.meter,
    "productId": lambda row, region, query: _product_id(row),
    "productName": lambda row, region, query: row.product,
    "skuName": lambda row, region, query: row.sku,
    "serviceName": lambda row, region, query: "Virtual Machines",
    "serviceId": lambda row, region, query: "DZH313Z7MMC8",
    "serviceFamily": lambda row, region, query: "Compute",
    "unitOfMeasure": lambda row, region, query: "1 Hour",
    "type": lambda row, region, query: "Reservation" if row.term else "Consumption",
    "priceType": lambda row, region, query: "Reservation" if row.term else "Consumption",
    "reservationTerm": lambda row, region, query: row.term or None,
    "isPrimaryMeterRegion": lambda row, region, query: True,
    "armSkuName": lambda row, region, query: row.size,
}
"""The fields of a row that are the same in all regions."""
_OF_REGION: Mapping[str, Value] = {
    "armRegionName": lambda row, region, query: region,
    "location": lambda row, region, query: LOCATIONS.get(region, region),
}
_VALUES: Mapping[str, Value] = {
    **_OF_NAMES,
    **_OF_REGION,
    "retailPrice": lambda row, region, query: query.price(row.usd),
    "unitPrice": lambda row, region, query: query.price(row.usd),
    "meterId": lambda row, region, query: new_guid(f"{row.product}/{row.meter}/{region}"),
    "skuId": lambda row, region, query: f"{_product_id(row)}/{_code(f'{row.product}/{row.sku}/{region}', 4)}",
}


def _rows(prices: PriceList, query: _Query) -> Iterator[tuple[PriceRow, str]]:
    """The rows that a filter lets pass, each with its region.

    Regions that it excludes are not read, of a row are made the values that it asks for, and those of all regions are judged once.
    """
    wanted = parse_filter(query.filter, query.fields)
    of_region = parse_filter(query.filter, query.fields, frozenset(_OF_REGION))
    of_names = parse_filter(query.filter, query.fields, frozenset(_OF_NAMES))
    needed = fields_of(query.filter, query.fields)
    if names_decide := needed <= _OF_NAMES.keys():
        of_names = wanted
    cost, spent = max(_SHORT, len(query.filter)), 0
    passes: dict[tuple[str, ...], bool] = {}
    for region in prices.regions():
        if not of_region({"armRegionName": region, "location": LOCATIONS.get(region, region)}):
            continue
        for row in prices.rows(region):
            names = (row.product, row.sku, row.meter, row.size, row.term)
            if (passed := passes.get(names)) is None:
                passed = passes[names] = of_names(_values(row, region, query, needed & _OF_NAMES.keys()))
                spent += cost
            if passed and not names_decide:
                passed = wanted(_values(row, region, query, needed))
                spent += cost
            if spent > _MOST:
                raise FilterError("the filter is too long for the rows of so many regions; name a region and a size")
            if passed:
                yield row, region


def _ordered(rows: Iterator[tuple[PriceRow, str]], query: _Query) -> Iterable[tuple[PriceRow, str]]:
    """Rows in the order that is asked for; those without the field come first, as null does in OData."""
    if not query.order:
        return rows
    listed = list(islice(rows, _SORTED + 1))
    if len(listed) > _SORTED:
        raise FilterError(f"more than {_SORTED} items are not sorted; name a region in the filter")
    for field, descending in reversed(query.order):
        keys = {row: _VALUES[field](*row, query) for row in listed}
        listed.sort(key=lambda row: () if keys[row] is None else (keys[row],), reverse=descending)
    return listed


def _values(row: PriceRow, region: str, query: _Query, names: Iterable[str]) -> dict[str, Any]:
    return {name: _VALUES[name](row, region, query) for name in names}


def _item(row: PriceRow, region: str, query: _Query) -> dict[str, Any]:
    item = _values(row, region, query, _SHOWN if row.term else _SHOWN_OF_USE)
    if row.savings and query.preview:
        item["savingsPlan"] = [
            {"unitPrice": query.price(usd), "retailPrice": query.price(usd), "term": term} for term, usd in row.savings
        ]
    return item


def _code(text: str, length: int) -> str:
    """A code of letters and digits that always belongs to a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join([_LETTERS[byte % len(_LETTERS)] for byte in digest[:length]])


def _list(state: State, request: Request) -> Response:
    """The page, which is read from the list as it is now while the cloud goes on: all regions are 340,000 rows."""
    if not state.market.prices.served:
        return Response(
            503, body={"Error": {"Code": "ServiceUnavailable", "Message": "The price list does not answer."}}
        )
    try:
        query = _read(request)
    except FilterError as error:
        return _refused(error)
    prices = state.market.price_list()
    return Response(200, later=lambda: _page(prices, query, request))


def _refused(error: FilterError) -> Response:
    return Response(400, body={"Error": {"Code": "InvalidFilter", "Message": str(error)}})


def _page(prices: PriceList, query: _Query, request: Request) -> Response:
    try:
        count = PAGE if query.top is None else min(PAGE, query.top)
        page = list(islice(_ordered(_rows(prices, query), query), query.skip, query.skip + count + 1))
    except FilterError as error:
        return _refused(error)
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
        "Items": [_item(row, region, query) for row, region in shown],
        "NextPageLink": following,
        "Count": len(shown),
    }
    return Response(200, body=body)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", PATH, _list, versioned=False)
