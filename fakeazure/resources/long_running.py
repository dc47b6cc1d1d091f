"""The URLs that long-running operations are polled at."""

from __future__ import annotations

from collections.abc import Iterator

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State

_PLACE = "/subscriptions/{subscription}/providers/{namespace}/locations/{location}"


def _poll(state: State, request: Request) -> Response:
    operation = state.operations.get(request.params["operation"])
    if operation is None:
        raise refuse("NotFound", id=request.path)
    results = "/operationresults/" in request.path.lower() or request.query.get("monitor", "").lower() == "true"
    return state.operations.poll(operation, as_location=results, version=request.api_version)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", f"{_PLACE}/operations/{{operation}}", _poll)
    yield Route("GET", f"{_PLACE}/DiskOperations/{{operation}}", _poll)
    yield Route("GET", f"{_PLACE}/operationResults/{{operation}}", _poll)
