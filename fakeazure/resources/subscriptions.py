"""Subscriptions, tenants, locations, resource groups, providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, pairs
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State

NAMESPACES = (
    "Microsoft.Compute",
    "Microsoft.ContainerService",
    "Microsoft.ManagedIdentity",
    "Microsoft.Network",
    "Microsoft.ResourceGraph",
    "Microsoft.Resources",
)


def _subscription(state: State, name: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{name}",
        "subscriptionId": name,
        "tenantId": state.settings.tenant,
        "displayName": "fakeazure",
        "state": "Enabled",
    }


def _subscriptions(state: State, request: Request) -> Response:
    return Response(200, body={"value": [_subscription(state, name) for name in state.subscriptions]})


def _one(state: State, request: Request) -> Response:
    return Response(200, body=_subscription(state, request.params["subscription"]))


def _tenants(state: State, request: Request) -> Response:
    tenant = state.settings.tenant
    return Response(200, body={"value": [{"id": f"/tenants/{tenant}", "tenantId": tenant, "displayName": "fakeazure"}]})


def _locations(state: State, request: Request) -> Response:
    subscription = request.params["subscription"]
    value = []
    for name in state.market.catalogue.regions:
        region = state.market.catalogue.region(name)
        item: dict[str, Any] = {
            "id": f"/subscriptions/{subscription}/locations/{name}",
            "name": name,
            "type": "Region",
            "displayName": name,
            "metadata": {"regionType": "Physical"},
        }
        if region.zones:
            item["availabilityZoneMappings"] = [
                {"logicalZone": zone, "physicalZone": f"{name}-az{zone}"} for zone in region.zones
            ]
        value.append(item)
    return Response(200, body={"value": value})


def _groups(state: State, request: Request) -> Response:
    wanted = request.params["subscription"].lower()
    return Response(200, body={"value": [group for (owner, _), group in state.groups.items() if owner == wanted]})


def _group(state: State, request: Request) -> Response:
    return Response(200, body=state.group(request.params["subscription"], request.params["group"]))


def _put_group(state: State, request: Request) -> Response:
    subscription, name = request.params["subscription"], request.params["group"]
    body = body_of(request)
    location = state.location_of(body, "resourceGroups")
    existed = (subscription.lower(), name.lower()) in state.groups
    state.add_group(subscription, name, location, pairs(body, "tags"))
    return Response(200 if existed else 201, body=state.group(subscription, name))


def _resources(state: State, request: Request) -> Response:
    group = state.group(request.params["subscription"], request.params["group"])["name"]
    items: list[Mapping[str, Any]] = [
        {key: entry.document[key] for key in ("id", "name", "type", "location", "tags") if key in entry.document}
        for entry in state.store.all()
        if _in(entry.id, request.params["subscription"], group)
    ]
    return Response(200, body={"value": items})


def _in(id_: ResourceId, subscription: str, group: str) -> bool:
    return (
        len(id_.types) == 1 and id_.subscription.lower() == subscription.lower() and id_.group.lower() == group.lower()
    )


def _provider(state: State, request: Request) -> Response:
    subscription, namespace = request.params["subscription"], request.params["namespace"]
    known = next((name for name in NAMESPACES if name.lower() == namespace.lower()), None)
    if known is None:
        raise refuse("InvalidResourceNamespace", namespace=namespace)
    missing = known in state.subscriptions[subscription.lower()]
    return Response(
        200,
        body={
            "id": f"/subscriptions/{subscription}/providers/{known}",
            "namespace": known,
            "registrationState": "NotRegistered" if missing else "Registered",
            "resourceTypes": [],
        },
    )


def _register(state: State, request: Request) -> Response:
    wanted = request.params["namespace"].lower()
    missing = state.subscriptions[request.params["subscription"].lower()]
    missing -= {name for name in missing if name.lower() == wanted}
    return _provider(state, request)


def _providers(state: State, request: Request) -> Response:
    missing = state.subscriptions[request.params["subscription"].lower()]
    value = [
        {"namespace": name, "registrationState": "NotRegistered" if name in missing else "Registered"}
        for name in NAMESPACES
    ]
    return Response(200, body={"value": value})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    one = "/subscriptions/{subscription}"
    yield Route("GET", "/tenants", _tenants)
    yield Route("GET", "/subscriptions", _subscriptions)
    yield Route("GET", one, _one)
    yield Route("GET", f"{one}/locations", _locations)
    yield Route("GET", f"{one}/resourceGroups", _groups)
    yield Route("GET", f"{one}/resourceGroups/{{group}}", _group)
    yield Route("PUT", f"{one}/resourceGroups/{{group}}", _put_group)
    yield Route("GET", f"{one}/resourceGroups/{{group}}/resources", _resources)
    yield Route("GET", f"{one}/providers", _providers)
    yield Route("GET", f"{one}/providers/{{namespace}}", _provider)
    yield Route("POST", f"{one}/providers/{{namespace}}/register", _register)
