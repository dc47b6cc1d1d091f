"""The emulated part of Azure, from the routing table itself: operations by provider, and the nearest to one that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fakeazure.arm.routes import Route
from fakeazure.state import State

EMULATED, PARTLY = "emulated", "partly"
_COMPUTE, _VM = "Microsoft.Compute", "Microsoft.Compute/virtualMachines"
_KEPT = "kept, nothing goes through it"
_PARTLY: Mapping[str, str] = MappingProxyType(
    {
        "Microsoft.Resources/deployments": "a templateLink is to a template spec, an address is not fetched; at groups and subscriptions",
        "Microsoft.Resources/tags/default": "not of management groups",
        f"{_VM}/runCommand": "nothing runs: the command succeeds and says nothing",
        f"{_VM}/assessPatches": "there are none",
        f"{_VM}/installPatches": "there are none",
        f"{_VM}/retrieveBootDiagnosticsData": "the log tells when the VM was created and how it is",
        f"{_COMPUTE}/sshPublicKeys/generateKeyPair": "the private key is a placeholder",
        f"{_COMPUTE}/capacityReservationGroups/capacityReservations": "a VM keeps its place while it is deallocated; not for scale sets",
        f"{_COMPUTE}/skus": "dedicated hosts of 2020; no disks whose performance is bought apart (Ultra, Premium v2)",
        f"{_COMPUTE}/availabilitySets": "kept, without effect on VMs",
        f"{_COMPUTE}/proximityPlacementGroups": "kept, without effect on VMs",
        f"{_COMPUTE}/hostGroups": "kept, without hosts",
        f"{_COMPUTE}/locations/placementScores/spot/generate": "from the market's stock and restrictions",
        "Microsoft.Authorization/policyAssignments": "kept and listed, not enforced",
        "Microsoft.Authorization/roleAssignments": "kept and listed, not enforced",
        "Microsoft.Authorization/policyDefinitions": "kept and listed, not enforced",
        "Microsoft.Authorization/policySetDefinitions": "kept and listed, not enforced",
        "Microsoft.Authorization/roleDefinitions": "six built-in roles, and custom ones",
        "Microsoft.Network/loadBalancers": "kept, nothing is balanced",
        "Microsoft.Network/natGateways": "kept, nothing is translated",
        "Microsoft.Network/applicationGateways": _KEPT,
        "Microsoft.Network/bastionHosts": _KEPT,
        "Microsoft.Network/dnsZones": f"{_KEPT}; no record sets",
        "Microsoft.Network/privateDnsZones": f"{_KEPT}; no record sets",
        "Microsoft.Network/privateEndpoints": _KEPT,
        "Microsoft.Network/virtualNetworkGateways": _KEPT,
        "Microsoft.Network/virtualNetworks/virtualNetworkPeerings": _KEPT,
        "Microsoft.Network/locations/serviceTags": "three tags",
        "Microsoft.Resources/subscriptions/providers/Microsoft.Features/providers/features": "each name is taken to be a feature",
        "Microsoft.Resources/subscriptions/resourceGroups/moveResources": "not VMs, scale sets, clusters, reservations",
        "Microsoft.ContainerService/managedClusters": "there is no API server but one that is attached",
        "Microsoft.ContainerService/managedClusters/runCommand": "nothing runs: the command succeeds and says nothing",
        "Microsoft.ContainerService/managedClusters/rotateClusterCertificates": "accepted, without effect",
        "Microsoft.ContainerService/managedClusters/rotateServiceAccountSigningKeys": "accepted, without effect",
        "Microsoft.ContainerService/managedClusters/maintenanceConfigurations": "kept, without effect",
        "Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings": "kept, without effect",
        "Microsoft.ContainerService/managedClusters/agentPools": "instances of a pool's scale set boot no Node",
        "Microsoft.ResourceGraph/resources": "tables Resources and ResourceContainers; no parse, let, make-series, dynamic literals",
    }
)
"""Provider and type → what of it is not as in Azure."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of Azure that is served. `note` says what of it is left out."""

    provider: str
    type: str
    method: str
    path: str
    state: str
    note: str


def operations(routes: Iterable[Route[State]]) -> tuple[Operation, ...]:
    """Every operation, by provider, type and path."""
    by_route = {(route.method, route.pattern): _operation(route) for route in routes}
    return tuple(
        sorted(
            by_route.values(),
            key=lambda operation: (operation.provider, operation.type.lower(), operation.path, operation.method),
        )
    )


def _operation(route: Route[State]) -> Operation:
    note = _PARTLY.get(f"{route.namespace}/{route.type}", "")
    provider = route.namespace or "any provider"
    if not route.versioned:
        provider = "outside of ARM" if route.resource == "prices" else provider
    return Operation(provider, route.type, route.method, route.pattern, PARTLY if note else EMULATED, note)


def nearest(routes: Iterable[Route[State]], method: str, path: str) -> str | None:
    """The operation that is nearest to one that is not there, `METHOD type`; None where nothing is like it."""
    wanted = _type_of(path)
    if not wanted:
        return None
    by_name: dict[str, Route[State]] = {}
    for route in routes:
        name = f"{route.namespace}/{route.type}".lower()
        if name not in by_name or route.method == method:
            by_name[name] = route
    close = difflib.get_close_matches(wanted, by_name, n=1, cutoff=0.75)
    return f"{by_name[close[0]].method} {by_name[close[0]].namespace}/{by_name[close[0]].type}" if close else None


def _type_of(path: str) -> str:
    """`microsoft.compute/virtualmachines/extensions` of a path; actions and lists count as types."""
    parts = [part for part in path.lower().split("/") if part]
    if "providers" not in parts:
        return ""
    after = parts[len(parts) - parts[::-1].index("providers") :]
    if len(after) < 2:
        return ""
    types = [part for place, part in enumerate(after[1:]) if place % 2 == 0]
    return "/".join((after[0], *types))


def page(served: Iterable[Operation]) -> Iterator[str]:
    """The documentation page, line by line."""
    served = tuple(served)
    counts = {state: sum(operation.state == state for operation in served) for state in (EMULATED, PARTLY)}
    yield "# What of Azure is emulated"
    yield ""
    yield "Made by `fakeazure coverage --format markdown` from the routes that are served."
    yield ""
    yield f"{len(served)} operations: {counts[EMULATED]} as Azure answers them, {counts[PARTLY]} partly. A request to anything else"
    yield "is refused with Azure's own error, which names the nearest operation that is there (`x-fakeazure-nearest`)."
    for provider in dict.fromkeys(operation.provider for operation in served):
        own = [operation for operation in served if operation.provider == provider]
        yield from ("", f"## {provider}", "", "| type | operations | not as in Azure |", "|---|---|---|")
        for type_ in dict.fromkeys(operation.type for operation in own):
            rows = [operation for operation in own if operation.type == type_]
            methods = ", ".join(sorted({operation.method for operation in rows}))
            yield f"| {type_ or '(subscriptions)'} | {methods} | {rows[0].note} |"
