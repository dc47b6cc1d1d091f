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
    text = request.query.get("$filter", "")
    items: Sequence[Mapping[str, Any]]
    if not text:
        items = [record for region in state.market.catalogue.regions for record in state.market.skus(region)]
    else:
        try:
            wanted = parse_filter(text)
        except FilterError as error:
            raise refuse("InvalidFilterInQueryString", reason=str(error)) from None
        # The service filters by region only; a filter on anything else leaves no region out.
        items = [
            record
            for region in _regions(state, text)
            if wanted({"location": region, "includeExtendedLocations": "false"})
            for record in state.market.skus(region)
        ]
    return page(request, items, size=state.settings.page_size, base_url=state.settings.base_url)


def _regions(state: State, text: str) -> Iterator[str]:
    """All regions by short name, or the one spelling in the filter that means one of them."""
    known = state.market.catalogue.regions
    quoted = text.split("'")[1] if text.count("'") >= 2 else ""
    for region in known:
        yield quoted if quoted and location_key(quoted) == region else region


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", "/subscriptions/{subscription}/providers/Microsoft.Compute/skus", _list)
