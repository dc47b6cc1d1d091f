"""The network interfaces and public addresses of the instances of scale sets, which are resources under each instance (2018-10-01)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.network import network_interfaces
from fakeazure.resources.network.network_kinds import public_address
from fakeazure.state import State

_NICS, _ADDRESSES = "networkInterfaces", "publicIPAddresses"
_SET = "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachineScaleSets/{name}"
_INSTANCE = f"{_SET}/virtualMachines/{{instance}}"
_CONFIGURATION = f"{_INSTANCE}/networkInterfaces/{{interface}}/ipConfigurations/{{configuration}}"


def add(state: State, instance: ResourceId, network: Mapping[str, Any], zone: str) -> None:
    """Make the interfaces that a set's network profile describes, with their addresses. Raises ArmError where a subnet is full."""
    for wanted in items(network, "networkInterfaceConfigurations"):
        properties = section(wanted, "properties")
        configurations = items(properties, "ipConfigurations")
        subnets = (
            text(section(section(configuration, "properties"), "subnet"), "id") for configuration in configurations
        )
        if not configurations or any(subnet.lower() not in state.addresses for subnet in subnets):
            continue  # a set that was let in without a network that is known here
        id_ = instance.child(_NICS, text(wanted, "name", "nic"))
        plain = [_plain(configuration) for configuration in configurations]
        body = {"properties": {**properties, "ipConfigurations": plain}}
        document = dict(network_interfaces.create(state, id_, body, ""))
        for name in ("location", "tags"):
            document.pop(name, None)
        document |= {
            "type": id_.type,
            "properties": {**document["properties"], "virtualMachine": {"id": str(instance)}},
        }
        for place, configuration in enumerate(configurations):
            public = section(section(configuration, "properties"), "publicIPAddressConfiguration")
            if public:
                _add_address(state, document, place, public, zone)
        state.store.put(id_, document)


def _plain(configuration: Mapping[str, Any]) -> dict[str, Any]:
    inner = section(configuration, "properties")
    own = {key: value for key, value in inner.items() if key != "publicIPAddressConfiguration"}
    return {**configuration, "properties": own}


def _add_address(state: State, nic: dict[str, Any], place: int, public: Mapping[str, Any], zone: str) -> None:
    shown = nic["properties"]["ipConfigurations"][place]
    id_ = ResourceId.parse(shown["id"]).child(_ADDRESSES, text(public, "name", "pub"))
    properties = {
        "provisioningState": "Succeeded",
        "resourceGuid": guid_of(str(id_)),
        "publicIPAddressVersion": "IPv4",
        "publicIPAllocationMethod": "Dynamic",
        "idleTimeoutInMinutes": 4,
        "ipTags": [],
        **section(public, "properties"),
        "ipAddress": public_address(str(id_)),
        "ipConfiguration": {"id": shown["id"]},
    }
    document: dict[str, Any] = {"name": id_.name, "id": str(id_), "type": id_.type, "properties": properties}
    if zone:
        document["zones"] = [zone]
    state.store.put(id_, document)
    shown["properties"] = {**shown["properties"], "publicIPAddress": {"id": str(id_)}}


def drop(state: State, instance: ResourceId) -> None:
    """Take the interfaces of an instance away, and give their addresses back."""
    for entry in tuple(state.store.children(instance, _NICS)):
        network_interfaces.remove(state, entry.id)


def _instances(state: State, request: Request) -> list[ResourceId]:
    id_ = state.id_of(request, "Microsoft.Compute", ("virtualMachineScaleSets", "name"))
    state.found(id_)
    if "instance" not in request.params:
        return [entry.id for entry in state.store.children(id_, "virtualMachines")]
    instance = id_.child("virtualMachines", request.params["instance"])
    if state.store.get(instance) is None:
        raise refuse("InstanceNotFound", name=instance.name)
    return [instance]


def _nics(state: State, request: Request) -> Response:
    nics = [entry.document for id_ in _instances(state, request) for entry in state.store.children(id_, _NICS)]
    return Response(200, body={"value": nics})


def _document(state: State, id_: ResourceId) -> Document:
    entry = state.store.get(id_)
    if entry is None:
        raise refuse("InterfaceNotFound", id=id_)
    return entry.document


def _nic(state: State, request: Request) -> Response:
    [instance] = _instances(state, request)
    return Response(200, body=_document(state, instance.child(_NICS, request.params["interface"])))


def _addresses(state: State, request: Request) -> Response:
    documents = []
    for instance in _instances(state, request):
        for nic in state.store.children(instance, _NICS):
            if request.params.get("interface", nic.id.name).lower() != nic.id.name.lower():
                continue
            for configuration in items(nic.document["properties"], "ipConfigurations"):
                address = text(section(section(configuration, "properties"), "publicIPAddress"), "id")
                entry = state.store.get(address) if address else None
                if entry is not None:
                    documents.append(entry.document)
    return Response(200, body={"value": documents})


def _configurations(state: State, request: Request) -> Response:
    [instance] = _instances(state, request)
    nic = _document(state, instance.child(_NICS, request.params["interface"]))
    return Response(200, body={"value": nic["properties"]["ipConfigurations"]})


def _configuration(state: State, request: Request) -> Response:
    [instance] = _instances(state, request)
    nic = _document(state, instance.child(_NICS, request.params["interface"]))
    for configuration in nic["properties"]["ipConfigurations"]:
        if configuration["name"].lower() == request.params["configuration"].lower():
            return Response(200, body=configuration)
    raise refuse("InterfaceNotFound", id=request.path)


def _address(state: State, request: Request) -> Response:
    [instance] = _instances(state, request)
    configuration = instance.child(_NICS, request.params["interface"]).child(
        "ipConfigurations", request.params["configuration"]
    )
    return Response(200, body=_document(state, configuration.child(_ADDRESSES, request.params["address"])))


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for scope in (_SET, _INSTANCE):
        yield Route("GET", f"{scope}/networkInterfaces", _nics)
    yield Route("GET", f"{_INSTANCE}/networkInterfaces/{{interface}}", _nic)
    yield Route("GET", f"{_SET}/publicipaddresses", _addresses)
    yield Route("GET", f"{_INSTANCE}/networkInterfaces/{{interface}}/ipConfigurations", _configurations)
    yield Route("GET", _CONFIGURATION, _configuration)
    yield Route("GET", f"{_CONFIGURATION}/publicipaddresses", _addresses)
    yield Route("GET", f"{_CONFIGURATION}/publicipaddresses/{{address}}", _address)
