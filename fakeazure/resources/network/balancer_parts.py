"""The parts of load balancers as resources of their own: read and listed, and two kinds of them PUT and deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, items, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import no_effect
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.market.match import Subject
from fakeazure.resources.network.network_interfaces import FULL_TYPE as NICS
from fakeazure.resources.network.network_kinds import LOAD_BALANCERS, PARTS, balancer_part
from fakeazure.state import State

_WRITTEN = ("backendAddressPools", "inboundNatRules")
"""Parts that are PUT and deleted by themselves (azure-rest-api-specs, Network, loadBalancer.json)."""
_ONE = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{LOAD_BALANCERS.type}/{{name}}"


def _shown(state: State, balancer: ResourceId, kind: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """A part; a pool also names the configurations of network interfaces that are in it."""
    shown = {**part, "type": f"{LOAD_BALANCERS.type}/{kind}"}
    if kind != "backendAddressPools":
        return shown
    members = [
        {"id": configuration["id"]}
        for entry in state.store.list(NICS, subscription=balancer.subscription)
        for configuration in items(entry.document["properties"], "ipConfigurations")
        for pool in items(section(configuration, "properties"), "loadBalancerBackendAddressPools")
        if text(pool, "id").lower() == str(part["id"]).lower()
    ]
    return {**shown, "properties": {**part["properties"], **({"backendIPConfigurations": members} if members else {})}}


def _parts(state: State, request: Request, kind: str) -> tuple[ResourceId, list[Mapping[str, Any]]]:
    entry = state.found(LOAD_BALANCERS.id_of(state, request))
    return entry.id, list(items(entry.document["properties"], kind))


def _place(parts: list[Mapping[str, Any]], name: str) -> int | None:
    return next((place for place, part in enumerate(parts) if part["name"].lower() == name.lower()), None)


def _list(kind: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        balancer, parts = _parts(state, request, kind)
        return Response(200, body={"value": [_shown(state, balancer, kind, part) for part in parts]})

    return handler


def _get(kind: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        balancer, parts = _parts(state, request, kind)
        place = _place(parts, request.params["part"])
        if place is None:
            raise refuse("NotFound", id=request.path)
        return Response(200, body=_shown(state, balancer, kind, parts[place]))

    return handler


def _put(kind: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        balancer, parts = _parts(state, request, kind)
        part = balancer_part(balancer, kind, {**body_of(request), "name": request.params["part"]})
        place = _place(parts, request.params["part"])
        if place is None:
            parts.append(part)
        else:
            parts[place] = part
        _keep(state, balancer, kind, parts)
        shown = _shown(state, balancer, kind, part)
        return _accepted(state, request, balancer, 201 if place is None else 200, shown)

    return handler


def _delete(kind: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        balancer, parts = _parts(state, request, kind)
        place = _place(parts, request.params["part"])
        if place is None:
            return Response(204)
        del parts[place]
        _keep(state, balancer, kind, parts)
        return _accepted(state, request, balancer, 202, None)

    return handler


def _keep(state: State, balancer: ResourceId, kind: str, parts: list[Mapping[str, Any]]) -> None:
    document = state.found(balancer).document
    state.store.put(balancer, {**document, "properties": {**document["properties"], kind: parts}})


def _accepted(
    state: State, request: Request, balancer: ResourceId, status: int, body: Mapping[str, Any] | None
) -> Response:
    location = str(state.found(balancer).document["location"])
    subject = Subject(request.method, LOAD_BALANCERS.name, balancer.name, location=location)
    operation = state.begin(subject, balancer, location=location, seconds=state.timing.resource, finish=no_effect)
    return state.operations.accepted(status, operation, request.api_version, body)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for kind in PARTS:
        yield Route("GET", f"{_ONE}/{kind}", _list(kind))
        yield Route("GET", f"{_ONE}/{kind}/{{part}}", _get(kind))
        if kind in _WRITTEN:
            yield Route("PUT", f"{_ONE}/{kind}/{{part}}", _put(kind))
            yield Route("DELETE", f"{_ONE}/{kind}/{{part}}", _delete(kind))
