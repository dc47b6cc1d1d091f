"""The retail prices API (prices.azure.com): no token, its own paging, one item per size and kind of price.

Real lists carry several Linux meters per size that clients overwrite in random order; here there is exactly one on demand and, for a
size that can be spot, one on spot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.guids import guid_of
from fakeazure.market.prices import SPOT, Price
from fakeazure.state import State

PATH = "/api/retail/prices"
PAGE = 1000
_MOST = 8
"""Regions that a filter may name: each has some thousand items."""
ORIGIN = "https://prices.azure.com"


def items(state: State, region: str) -> Iterator[dict[str, Any]]:
    """The price items of a region."""
    place = state.market.region(region)
    if place is None:
        return
    for price in state.market.prices.retail(place, region):
        yield _item(price)


def _item(price: Price) -> dict[str, Any]:
    bare = price.size.removeprefix("Standard_").replace("_", " ")
    name = f"{bare} Spot" if price.kind == SPOT else bare
    series = bare.split(" ")[0].rstrip("0123456789abcdefghijklmnopqrstuvwxyz-") or bare
    meter = guid_of(f"{price.size}/{price.location}/{price.kind}")
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price.usd,
        "unitPrice": price.usd,
        "armRegionName": price.location,
        "location": price.location,
        "effectiveStartDate": "2025-01-01T00:00:00Z",
        "meterId": meter,
        "meterName": name,
        "productId": meter[:12].upper(),
        "skuId": meter[:16].upper(),
        "productName": f"Virtual Machines {series} Series",
        "skuName": name,
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "priceType": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": price.size,
    }


def _list(state: State, request: Request) -> Response:
    text = request.query.get("$filter", "")
    try:
        wanted = parse_filter(text)
        skip = _skipped(request.query.get("$skip", "0"))
        # Without a region in the filter: those that are served, as in the list of SKUs.
        named = [region for region in state.market.catalogue.regions if f"'{region}'" in text]
        if len(named) > _MOST:
            raise FilterError(f"the filter names more than {_MOST} regions")
    except FilterError as error:
        return Response(400, body={"Error": {"Code": "InvalidFilter", "Message": str(error)}})
    regions = named or state.settings.sku_regions
    found = [item for region in regions for item in items(state, region) if wanted(item)]
    shown = found[skip : skip + PAGE]
    following = None
    if skip + PAGE < len(found):
        query = urlencode({**request.query, "$skip": str(skip + PAGE)})
        following = f"{ORIGIN}{PATH}?{query}"
    body = {
        "BillingCurrency": "USD",
        "CustomerEntityId": "Default",
        "CustomerEntityType": "Retail",
        "Items": shown,
        "NextPageLink": following,
        "Count": len(shown),
    }
    return Response(200, body=body)


def _skipped(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise FilterError(f"$skip is no number: {text[:100]!r}")
    return int(text)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", PATH, _list, versioned=False)
