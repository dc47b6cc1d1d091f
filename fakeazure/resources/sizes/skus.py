"""`Microsoft.Compute/skus`: the catalogue's records of every region, under the subscription's restrictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.ids import location_key
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State


def _list(state: State, request: Request) -> Response:
    regions = _regions(state, request.query.get("$filter", ""))
    lists = [state.market.skus(region) for region in regions]
    items: Sequence[Mapping[str, Any]] = lists[0] if len(lists) == 1 else [record for one in lists for record in one]
    size = state.settings.page_size
    if size is None:
        return Response(200, body={"value": items}, content=("skus", regions, state.market.restrictions.version))
    return page(request, items, size=size, base_url=state.settings.base_url)


def _regions(state: State, text: str) -> tuple[str, ...]:
    """The regions that a filter leaves. The service filters by region only; a filter on anything else leaves none out."""
    if not text:
        return state.settings.sku_regions
    try:
        wanted = parse_filter(text)
    except FilterError as error:
        raise refuse("InvalidFilterInQueryString", reason=str(error)) from None
    quoted = text.split("'")[1] if text.count("'") >= 2 else ""
    found = []
    for region in state.market.catalogue.regions:
        spelt = quoted if quoted and location_key(quoted) == region else region  # `East US` means eastus
        if wanted({"location": spelt, "includeExtendedLocations": "false"}):
            found.append(region)
    return tuple(found)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", "/subscriptions/{subscription}/providers/Microsoft.Compute/skus", _list)
