"""Virtual networks and their subnets; a subnet knows how many addresses it has left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.addresses import Addresses
from fakeazure.arm.bodies import body_of, items, section, text, texts
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.kinds import Kind
from fakeazure.resources.names import check_network
from fakeazure.state import State

NAMESPACE = "Microsoft.Network"
VIRTUAL_NETWORKS = Kind(NAMESPACE, "virtualNetworks")
_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{NAMESPACE}/virtualNetworks"
_SUBNET = f"{_GROUP}/{{name}}/subnets"


def add_network(
    state: State, id_: ResourceId, *, location: str, prefix: str, subnets: Mapping[str, str], guid: str | None = None
) -> None:
    """Create a network with `subnets` (name → address prefix)."""
    body = {"properties": {"addressSpace": {"addressPrefixes": [prefix]}, "resourceGuid": guid or guid_of(str(id_))}}
    state.store.put(id_, VIRTUAL_NETWORKS.document(id_, body, location))
    for name, subnet in subnets.items():
        add_subnet(state, id_.child("subnets", name), {"addressPrefix": subnet})


def add_subnet(state: State, id_: ResourceId, properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Create a subnet, or replace its properties; its addresses stay in use. Refuses a bad address prefix."""
    prefix = text(properties, "addressPrefix") or next(iter(texts(properties, "addressPrefixes")), "")
    held = state.addresses.get(id_.key)
    if held is None or held.prefix != prefix:
        try:
            state.addresses[id_.key] = Addresses(prefix)
        except ValueError as error:
            raise refuse("InvalidRequestContent", reason=str(error)) from None
    document = {
        "id": str(id_),
        "name": id_.name,
        "type": id_.type,
        "etag": f'W/"{guid_of(str(id_))}"',
        "properties": {**properties, "addressPrefix": prefix, "provisioningState": "Succeeded"},
    }
    state.store.put(id_, document)
    return document


def _subnet_id(state: State, request: Request) -> ResourceId:
    return state.id_of(request, NAMESPACE, ("virtualNetworks", "name"), ("subnets", "subnet"))


def _network(state: State, request: Request) -> Response:
    id_ = VIRTUAL_NETWORKS.id_of(state, request)
    return Response(200, body=_with_subnets(state, id_, state.found(id_).document))


def _networks(state: State, request: Request) -> Response:
    answer = VIRTUAL_NETWORKS.list(state, request)
    networks = (answer.body or {})["value"]
    return Response(
        200, body={"value": [_with_subnets(state, ResourceId.parse(network["id"]), network) for network in networks]}
    )


def _with_subnets(state: State, id_: ResourceId, document: Mapping[str, Any]) -> Mapping[str, Any]:
    subnets = [entry.document for entry in state.store.children(id_, "subnets")]
    peerings = [entry.document for entry in state.store.children(id_, "virtualNetworkPeerings")]
    parts = {"subnets": subnets, **({"virtualNetworkPeerings": peerings} if peerings else {})}
    return {**document, "properties": {**document["properties"], **parts}}


def _put_network(state: State, request: Request) -> Response:
    properties = section(body_of(request), "properties")
    for subnet in items(properties, "subnets"):
        check_network(text(subnet, "name", "default"))
    response = VIRTUAL_NETWORKS.put(state, request)
    id_ = VIRTUAL_NETWORKS.id_of(state, request)
    document = state.found(id_).document
    own = {key: value for key, value in document["properties"].items() if key != "subnets"}
    own.setdefault("resourceGuid", guid_of(str(id_)))
    state.store.put(id_, {**document, "properties": own})
    for subnet in items(properties, "subnets"):
        add_subnet(state, id_.child("subnets", text(subnet, "name", "default")), section(subnet, "properties"))
    return Response(response.status, body=_with_subnets(state, id_, state.found(id_).document))


def _subnet(state: State, request: Request) -> Response:
    state.group(request.params["subscription"], request.params["group"])
    entry = state.store.get(request.path)  # asked for every few minutes, mostly by its very id
    if entry is not None:
        return Response(200, body=entry.document)
    id_ = _subnet_id(state, request)
    network = id_.parent
    if network is not None:
        state.found(network)
    entry = state.store.get(id_)
    if entry is None:
        raise refuse("NotFound", id=id_)
    return Response(200, body=entry.document)


def _put_subnet(state: State, request: Request) -> Response:
    id_ = _subnet_id(state, request)
    network = id_.parent
    if network is None or state.store.get(network) is None:
        raise refuse("ParentResourceNotFound", action="write", type="virtualNetworks/subnets", parent=network)
    existed = state.store.get(id_) is not None
    document = add_subnet(state, id_, section(body_of(request), "properties"))
    return Response(200 if existed else 201, body=document)


def _delete_subnet(state: State, request: Request) -> Response:
    id_ = _subnet_id(state, request)
    if state.store.get(id_) is None:
        return Response(204)
    for entry in state.store.list(f"{NAMESPACE}/networkInterfaces"):
        for configuration in items(entry.document["properties"], "ipConfigurations"):
            if text(section(section(configuration, "properties"), "subnet"), "id").lower() == id_.key:
                raise refuse("InUseSubnetCannotBeDeleted", name=id_.name, user=configuration["id"])

    deletion.mark(state, id_)
    place = str(state.settings.location)
    subject = Subject("DELETE", "subnets", id_.name, location=place)
    operation = state.begin(
        subject,
        id_,
        location=place,
        seconds=state.timing.resource,
        finish=partial(remove_subnet, state, id_),
        failed=partial(deletion.failed, state, (id_,)),
    )
    return state.operations.accepted(202, operation, request.api_version)


def remove_subnet(state: State, id_: ResourceId) -> None:
    """Finish the deletion of a subnet: its addresses go with it."""
    state.store.remove(id_)


def _subnets(state: State, request: Request) -> Response:
    id_ = VIRTUAL_NETWORKS.id_of(state, request)
    state.found(id_)
    return Response(200, body={"value": [entry.document for entry in state.store.children(id_, "subnets")]})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", _GROUP, _networks)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{NAMESPACE}/virtualNetworks", _networks)
    yield Route("GET", f"{_GROUP}/{{name}}", _network)
    yield Route("PUT", f"{_GROUP}/{{name}}", _put_network)
    yield from VIRTUAL_NETWORKS.routes()
    yield Route("GET", _SUBNET, _subnets)
    yield Route("GET", f"{_SUBNET}/{{subnet}}", _subnet)
    yield Route("PUT", f"{_SUBNET}/{{subnet}}", _put_subnet)
    yield Route("DELETE", f"{_SUBNET}/{{subnet}}", _delete_subnet)
