"""`Microsoft.Compute/skus`: the catalogue's records of every region, under the subscription's restrictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.catalog.locations import location_key
from fakeazure.resources.sizes.other_skus import other_skus
from fakeazure.state import State

_MOST = 8
"""Regions that a filter may name: each has some thousand records."""


def _list(state: State, request: Request) -> Response:
    regions = _regions(state, request.query.get("$filter", ""))
    size = state.settings.page_size
    items: Sequence[Mapping[str, Any]] = [record for region in regions for record in _records(state, region)]
    if size is None:
        return Response(200, body={"value": items}, content=("skus", regions, state.market.restrictions.version))
    return page(request, items, size=size, base_url=state.settings.base_url)


def _records(state: State, region: str) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a region, those of no machine first, as ARM lists them."""
    yield from other_skus(region, tuple(state.market.catalogue.zones(region)))
    yield from state.market.skus(region)


def _regions(state: State, text: str) -> tuple[str, ...]:
    """The regions that a filter leaves: of those that it names, else of those that are served. The service filters by region only; a
    filter on anything else leaves none out."""
    served = state.settings.sku_regions
    if not text:
        return served
    try:
        wanted = parse_filter(text)
    except FilterError as error:
        raise refuse("InvalidFilterInQueryString", reason=str(error)) from None
    spelt = {location_key(name): name for name in text.split("'")[1::2]}  # `East US` means eastus
    named = [region for region in state.market.catalogue.regions if region in spelt]
    if len(named) > _MOST:
        raise refuse("InvalidFilterInQueryString", reason=f"it names more than {_MOST} locations")
    return tuple(
        region
        for region in named or served
        if wanted({"location": spelt.get(region, region), "includeExtendedLocations": "false"})
    )


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", "/subscriptions/{subscription}/providers/Microsoft.Compute/skus", _list)
