"""Questions about a network: which addresses are free, which routes and rules hold for an interface, which prefixes are Azure's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

from fakeazure.arm.bodies import items, section, text, texts
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.network.network_interfaces import FULL_TYPE, nic_id
from fakeazure.resources.network.network_kinds import NAMESPACE
from fakeazure.resources.network.virtual_networks import VIRTUAL_NETWORKS
from fakeazure.state import State

_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{NAMESPACE}"
_OFFERED = 5
"""So many free addresses are named beside one that is not free."""


def _check_address(state: State, request: Request) -> Response:
    id_ = VIRTUAL_NETWORKS.id_of(state, request)
    state.found(id_)
    try:
        wanted = ip_address(request.query.get("ipAddress", ""))
    except ValueError:
        reason = "'ipAddress' must be an IP address."
        raise refuse("InvalidRequestContent", target="ipAddress", reason=reason) from None
    for entry in state.store.children(id_, "subnets"):
        addresses = state.addresses[entry.id.key]
        if wanted not in ip_network(addresses.prefix):
            continue
        if addresses.is_free(str(wanted)):
            return Response(200, body={"available": True, "isPlatformReserved": False})
        body: dict[str, Any] = {"available": False, "availableIPAddresses": addresses.next_free(_OFFERED)}
        return Response(200, body={**body, "isPlatformReserved": addresses.is_reserved(str(wanted))})
    reason = f"The address {wanted} is in no subnet of the virtual network."
    raise refuse("InvalidRequestContent", target="ipAddress", reason=reason)


def _running(state: State, request: Request) -> Document:
    """An interface of a running machine, of which alone Azure tells what holds."""
    entry = state.found(nic_id(state, request))
    user = text(section(entry.document["properties"], "virtualMachine"), "id").lower()
    if user not in state.vms or state.vms[user].power != "running":
        raise refuse("InterfaceOfRunningVM", name=entry.id.name)
    return entry.document


def _subnets(state: State, nic: Document) -> Iterator[Document]:
    for configuration in items(nic["properties"], "ipConfigurations"):
        entry = state.store.get(text(section(section(configuration, "properties"), "subnet"), "id"))
        if entry is not None:
            yield entry.document


def _routes(state: State, request: Request) -> Response:
    nic, value = _running(state, request), list[dict[str, Any]]()
    for subnet in _subnets(state, nic):
        network = state.store.get(subnet["id"].rpartition("/subnets/")[0])
        space = section(network.document["properties"], "addressSpace") if network is not None else {}
        value.append(_route("Default", list(texts(space, "addressPrefixes")), "VnetLocal"))
        value.append(_route("Default", ["0.0.0.0/0"], "Internet"))
        table = state.store.get(text(section(subnet["properties"], "routeTable"), "id"))
        for route in state.store.children(table.id, "routes") if table is not None else ():
            properties = route.document["properties"]
            row = _route("User", [text(properties, "addressPrefix")], text(properties, "nextHopType"))
            value.append({**row, "name": route.id.name})
    return state.act(request, nic_id(state, request), state.timing.nic, result={"value": value})


def _route(source: str, prefixes: list[str], hop: str) -> dict[str, Any]:
    return {
        "source": source,
        "state": "Active",
        "addressPrefix": prefixes,
        "nextHopType": hop,
        "nextHopIpAddress": [],
        "disableBgpRoutePropagation": False,
    }


def _groups(state: State, request: Request) -> Response:
    nic, value = _running(state, request), list[dict[str, Any]]()
    subnets = list(_subnets(state, nic))
    for part, holder in (("networkInterface", nic), *(("subnet", subnet) for subnet in subnets)):
        group = state.store.get(text(section(holder["properties"], "networkSecurityGroup"), "id"))
        if group is None:
            continue
        own = [entry.document for entry in state.store.children(group.id, "securityRules")]
        rules = [*own, *items(group.document["properties"], "defaultSecurityRules")]
        value.append(
            {
                "networkSecurityGroup": {"id": str(group.id)},
                "association": {part: {"id": holder["id"]}},
                "effectiveSecurityRules": [_rule(rule) for rule in rules],
            }
        )
    return state.act(request, nic_id(state, request), state.timing.nic, result={"value": value})


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    properties = {key: value for key, value in rule["properties"].items() if key != "provisioningState"}
    return {"name": rule["name"], **properties}


def _service_tags(state: State, request: Request) -> Response:
    """The tags whose prefixes are known here: Azure's probe, and the addresses that this cloud hands out."""
    place = state.check_place(request, "locations/serviceTags")
    rows = (
        ("AzureLoadBalancer", "", "168.63.129.16/32"),
        ("AzureCloud", "", "20.0.0.0/8"),
        (f"AzureCloud.{place}", place, "20.0.0.0/8"),
    )
    values = [
        {
            "name": name,
            "id": name,
            "properties": {"changeNumber": "1", "region": region, "systemService": "", "addressPrefixes": [prefix]},
        }
        for name, region, prefix in rows
    ]
    id_ = f"/subscriptions/{request.params['subscription']}/providers/{NAMESPACE}/serviceTags/Public"
    head = {"name": "Public", "id": id_, "type": f"{NAMESPACE}/serviceTags", "changeNumber": "1", "cloud": "Public"}
    return Response(200, body={**head, "values": values})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", f"{_GROUP}/virtualNetworks/{{name}}/CheckIPAddressAvailability", _check_address)
    nic = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{FULL_TYPE}/{{nic}}"
    yield Route("POST", f"{nic}/effectiveRouteTable", _routes)
    yield Route("POST", f"{nic}/effectiveNetworkSecurityGroups", _groups)
    place = f"/subscriptions/{{subscription}}/providers/{NAMESPACE}/locations/{{location}}"
    yield Route("GET", f"{place}/serviceTags", _service_tags)
