"""`Microsoft.Compute/locations/usages`: what is used of which quota, by the same counter that judges a PUT."""

from __future__ import annotations

from collections.abc import Iterator

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.state import State


def _list(state: State, request: Request) -> Response:
    location = state.check_place(request, "locations/usages")
    items = state.market.usages(request.params["subscription"], location)
    return page(request, items, size=state.settings.page_size, base_url=state.settings.base_url)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/usages", _list)
