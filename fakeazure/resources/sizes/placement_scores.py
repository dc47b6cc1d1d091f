"""Spot placement scores: how likely a spot VM of a size is to be let in, told from the market's own stock and restrictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, items, number, text, texts
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.market.match import Subject
from fakeazure.state import State


def _score(state: State, subscription: str, size: str, region: str, zone: str, count: int) -> Mapping[str, Any]:
    """`High` with room for all, `Medium` for one, `Low` for none; `DataNotFoundOrStale` where the size is not sold for spot."""
    facts = state.market.size(size, region)
    base = {"sku": size, "region": region} | ({"availabilityZone": zone} if zone else {})
    if facts is None or not facts.has("LowPriorityCapable"):
        return {**base, "score": "DataNotFoundOrStale", "isQuotaAvailable": False}
    subject = Subject(
        "PUT",
        "virtualMachines",
        size=facts.name,
        family=facts.family,
        zone=zone,
        priority="Spot",
        location=facts.location,
    )
    open_ = state.market.refusal(facts, subject, subscription=subscription, id_="") is None
    shortage = state.market.shortage(size, region, priority="Spot", subscription=subscription)
    if not open_ or state.market.stock.empty_for(subject, facts.vcpus) is not None:
        score = "Low"
    else:
        score = "High" if state.market.stock.empty_for(subject, facts.vcpus, count) is None else "Medium"
    return {**base, "score": score, "isQuotaAvailable": shortage is None}


def _generate(state: State, request: Request) -> Response:
    state.check_place(request, "locations/placementScores/spot")
    body = body_of(request)
    regions = texts(body, "desiredLocations") or (request.params["location"],)
    sizes = tuple(text(item, "sku") for item in items(body, "desiredSizes"))
    count = max(1, int(number(body, "desiredCount", 1)))
    scores = []
    for region in regions:
        place = state.market.region(region)
        zones = tuple(place.zones) if place is not None and body.get("availabilityZones") is True else ("",)
        scores += [
            _score(state, request.params["subscription"], size, region, zone, count) for size in sizes for zone in zones
        ]
    echoed = {
        key: body[key]
        for key in ("desiredLocations", "desiredSizes", "desiredCount", "availabilityZones")
        if key in body
    }
    return Response(200, body={**echoed, "placementScores": scores})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    place = "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/placementScores/spot"
    yield Route("POST", f"{place}/generate", _generate)
    yield Route("GET", place, _describe)


def _describe(state: State, request: Request) -> Response:
    location = state.check_place(request, "locations/placementScores/spot")
    id_ = f"/subscriptions/{request.params['subscription']}/providers/Microsoft.Compute/locations/{location}/placementScores/spot"
    type_ = "Microsoft.Compute/locations/placementScores"
    return Response(
        200, body={"id": id_, "name": "spot", "type": type_, "properties": {"resourceTypes": ["virtualMachines"]}}
    )
