"""Subscriptions, tenants, locations, providers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.real_namespaces import REAL_NAMESPACES
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.catalog.geography import place
from fakeazure.state import State

NAMESPACES = (
    "Microsoft.Authorization",
    "Microsoft.Compute",
    "Microsoft.ContainerService",
    "Microsoft.Features",
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


def _described(subscription: str, region: str) -> dict[str, Any]:
    """Return how a location speaks of a region; one that is not Azure's has its short name only."""
    about = place(region)
    if about is None:
        return {"displayName": region, "regionalDisplayName": region, "metadata": {"regionType": "Physical"}}
    pair = about.paired_region
    optional = {
        "latitude": about.latitude,
        "longitude": about.longitude,
        "physicalLocation": about.physical_location,
    }
    metadata: dict[str, Any] = {
        "regionType": "Physical",
        "regionCategory": about.category,
        "geography": about.geography,
        "geographyGroup": about.group,
        **{key: value for key, value in optional.items() if value},
        "pairedRegion": [{"name": pair, "id": f"/subscriptions/{subscription}/locations/{pair}"}] if pair else [],
    }
    return {
        "displayName": about.display_name,
        "regionalDisplayName": f"({about.group}) {about.display_name}",
        "metadata": metadata,
    }


def _locations(state: State, request: Request) -> Response:
    subscription = request.params["subscription"]
    value = []
    for name in state.market.catalogue.regions:
        zones = state.market.catalogue.zones(name)
        item: dict[str, Any] = {
            "id": f"/subscriptions/{subscription}/locations/{name}",
            "name": name,
            "type": "Region",
            **_described(subscription, name),
        }
        if zones:
            item["availabilityZoneMappings"] = [
                {"logicalZone": zone, "physicalZone": f"{name}-az{zone}"} for zone in zones
            ]
        value.append(item)
    return Response(200, body={"value": value})


def described(state: State, subscription: str, namespace: str) -> dict[str, Any]:
    """A provider with its types, as the routing table has them; each type is said to have all versions of its namespace."""
    missing = namespace in state.subscriptions[subscription.lower()]
    regions = list(state.market.catalogue.regions)
    versions = list(reversed(API_VERSIONS.get(namespace, ())))
    return {
        "id": f"/subscriptions/{subscription}/providers/{namespace}",
        "namespace": namespace,
        "registrationState": "NotRegistered" if missing else "Registered",
        "registrationPolicy": "RegistrationRequired",
        "resourceTypes": [
            {
                "resourceType": type_,
                "locations": regions,
                "apiVersions": versions,
                "capabilities": "SupportsTags, SupportsLocation" if "/" not in type_ else "None",
            }
            for type_ in state.types.get(namespace, ())
        ],
    }


def _provider(state: State, request: Request) -> Response:
    subscription, namespace = request.params["subscription"], request.params["namespace"]
    provider = next((name for name in NAMESPACES if name.lower() == namespace.lower()), None)
    provider = provider or REAL_NAMESPACES.get(namespace.lower())
    if provider is None:
        raise refuse("InvalidResourceNamespace", namespace=namespace)
    return Response(200, body=described(state, subscription, provider))


def _register(state: State, request: Request) -> Response:
    wanted = request.params["namespace"].lower()
    missing = state.subscriptions[request.params["subscription"].lower()]
    missing -= {name for name in missing if name.lower() == wanted}
    return _provider(state, request)


def _providers(state: State, request: Request) -> Response:
    subscription = request.params["subscription"]
    return Response(200, body={"value": [described(state, subscription, name) for name in NAMESPACES]})


def _provider_operations(state: State, request: Request) -> Response:
    """The operations of a provider, in the names that roles use: those that are served."""
    wanted = request.params["namespace"].lower()
    namespace = next((name for name in state.actions if name.lower() == wanted), None)
    if namespace is None:
        raise refuse("InvalidResourceNamespace", namespace=request.params["namespace"])
    types = [
        {
            "name": type_,
            "displayName": type_,
            "operations": [
                {"name": f"{namespace}/{type_}/{action}", "displayName": action, "isDataAction": False}
                for action in actions
            ],
        }
        for type_, actions in state.actions[namespace].items()
    ]
    head = "/providers/Microsoft.Authorization/providerOperations"
    names = {"id": f"{head}/{namespace}", "name": namespace, "type": head.strip("/").partition("/")[2]}
    return Response(200, body={**names, "displayName": namespace, "resourceTypes": types, "operations": []})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    path = "/subscriptions/{subscription}"
    yield Route("GET", "/tenants", _tenants)
    yield Route("GET", "/subscriptions", _subscriptions)
    yield Route("GET", path, _one)
    yield Route("GET", f"{path}/locations", _locations)
    yield Route("GET", f"{path}/providers", _providers)
    yield Route("GET", f"{path}/providers/{{namespace}}", _provider)
    yield Route("POST", f"{path}/providers/{{namespace}}/register", _register)
    yield Route("GET", "/providers/Microsoft.Authorization/providerOperations/{namespace}", _provider_operations)
