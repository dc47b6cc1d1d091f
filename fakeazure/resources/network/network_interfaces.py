"""Network interfaces: they take addresses of a subnet, belong to one VM, and may stay reserved after a refused launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, flag, items, pairs, section, tags_after, text
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import no_effect
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.names import check_network
from fakeazure.state import State

NAMESPACE, TYPE = "Microsoft.Network", "networkInterfaces"
FULL_TYPE = f"{NAMESPACE}/{TYPE}"
_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{FULL_TYPE}"


def nic_id(state: State, request: Request) -> ResourceId:
    """The NIC that a request names."""
    return state.id_of(request, NAMESPACE, (TYPE, "nic"))


def create(state: State, id_: ResourceId, body: Mapping[str, Any], location: str) -> Document:
    """Create a NIC, or replace one: checks what it refers to, takes its addresses. Its VM stays the same."""
    properties, tags = section(body, "properties"), pairs(body, "tags")
    configurations = _configurations(properties)
    primaries = _primaries(id_, configurations)
    switches = {name: flag(properties, name) or False for name in ("enableAcceleratedNetworking", "enableIPForwarding")}
    group = text(section(properties, "networkSecurityGroup"), "id")
    if group and state.store.get(group) is None:
        raise refuse("InvalidResourceReference", reference=group, id=id_)
    wanted: dict[str, int] = {}
    for configuration in configurations:
        inner = section(configuration, "properties")
        text(configuration, "name")
        subnet = text(section(inner, "subnet"), "id")
        if subnet.lower() not in state.addresses:
            raise refuse("InvalidResourceReference", reference=subnet, id=id_)
        there = state.store.get(subnet)
        if there is not None:
            deletion.check_use(there, "Update NetworkInterface")
        wanted[subnet] = wanted.get(subnet, 0) + 1
        for pool in items(inner, "loadBalancerBackendAddressPools"):
            if not _pool_exists(state, text(pool, "id")):
                raise refuse("InvalidResourceReference", reference=text(pool, "id"), id=id_)
    old = state.store.get(id_)
    held = Counter(subnet for subnet, _ in _held(old.document)) if old is not None else Counter[str]()
    for subnet, count in wanted.items():
        addresses = state.addresses[subnet.lower()]
        if addresses.free + held[subnet.lower()] < count:
            raise refuse("SubnetIsFull", subnet=subnet.rpartition("/")[2], prefix=addresses.prefix, count=count)
    if old is not None:
        _give_addresses_back(state, old.document)
    rendered = [
        _render(state, id_, configuration, primary=primary)
        for configuration, primary in zip(configurations, primaries, strict=True)
    ]
    document: dict[str, Any] = {
        "id": str(id_ if old is None else old.id),
        "name": id_.name,
        "type": FULL_TYPE,
        "location": location,
        "tags": tags,
        "etag": f'W/"{state.guids()}"',
        "properties": {
            **properties,
            "provisioningState": "Succeeded",
            "resourceGuid": guid_of(str(id_)),
            "ipConfigurations": rendered,
            "macAddress": _mac(id_),
            **switches,
        },
    }
    if old is not None and "virtualMachine" in old.document["properties"]:
        document["properties"]["virtualMachine"] = old.document["properties"]["virtualMachine"]
    state.store.put(id_, document)
    return document


def constrains(state: State, id_: ResourceId) -> bool:
    """Return whether a NIC narrows where its VM can run: accelerated networking, or an IPv6 address.

    Azure's own words in refusals; a VM without either is refused without them (jenkins-infra/azure#1416, 2026-04).
    """
    entry = state.store.get(id_)
    if entry is None:
        return False
    properties = entry.document["properties"]
    versions = (
        section(configuration, "properties").get("privateIPAddressVersion")
        for configuration in items(properties, "ipConfigurations")
    )
    return bool(properties.get("enableAcceleratedNetworking")) or "IPv6" in versions


def attach(state: State, id_: ResourceId, vm: ResourceId | None) -> None:
    """Attach a NIC to `vm`, or detach it with None."""
    entry = state.store.get(id_)
    if entry is None:
        return
    properties = {key: value for key, value in entry.document["properties"].items() if key != "virtualMachine"}
    if vm is not None:
        properties["virtualMachine"] = {"id": str(vm)}
    state.store.put(entry.id, {**entry.document, "properties": properties})


def remove(state: State, id_: ResourceId) -> None:
    """Take a NIC away and give its addresses back; nothing happens if it is not there."""
    entry = state.store.get(id_)
    if entry is not None:
        _give_addresses_back(state, entry.document)
        state.store.remove(id_)


def reserved_for(state: State, id_: ResourceId) -> str | None:
    """The VM id that a NIC is still reserved for after a refused launch."""
    held = state.nic_reservations.get(id_.key)
    if held is None:
        return None
    if held[1] <= state.now():
        del state.nic_reservations[id_.key]
        return None
    return held[0]


def _configurations(properties: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    configurations = items(properties, "ipConfigurations")
    if not configurations:
        raise refuse("InvalidRequestContent", reason="a network interface needs ipConfigurations")
    for configuration in configurations:
        check_network(text(configuration, "name", "ipconfig"))
    return configurations


def _primaries(id_: ResourceId, configurations: Sequence[Mapping[str, Any]]) -> Sequence[bool]:
    """Return of each configuration whether it is the primary one. Refuses several unless exactly one is.

    A single one is primary by itself (azure-rest-api-specs network NetworkInterfaceCreate.json, which does not say so), but for one of
    IPv6: the primary one is of IPv4 (kubernetes-sigs/cloud-provider-azure#3715).
    """
    inner = [section(configuration, "properties") for configuration in configurations]
    stated = [flag(properties, "primary") for properties in inner]
    if len(stated) == 1 and stated[0] is None:
        return (text(inner[0], "privateIPAddressVersion").lower() != "ipv6",)
    if len(stated) > 1 and stated.count(True) != 1:
        raise refuse("SeveralPrimaryConfigurations" if True in stated else "NoPrimaryConfiguration", name=id_.name)
    return [primary or False for primary in stated]


def _render(state: State, id_: ResourceId, configuration: Mapping[str, Any], *, primary: bool) -> dict[str, Any]:
    """Render a configuration with an address of its own."""
    inner = section(configuration, "properties")
    subnet = section(inner, "subnet")
    address = state.addresses[str(subnet["id"]).lower()].take(1)[0]
    name = text(configuration, "name", "ipconfig")
    return {
        "id": str(id_.child("ipConfigurations", name)),
        "name": name,
        "type": f"{FULL_TYPE}/ipConfigurations",
        "properties": {
            "privateIPAllocationMethod": "Dynamic",
            "privateIPAddressVersion": "IPv4",
            **inner,
            "primary": primary,
            "privateIPAddress": address,
            "provisioningState": "Succeeded",
        },
    }


def private_address(state: State, nic: str) -> str:
    """The first IPv4 address of a NIC, by its id; empty where there is none."""
    entry = state.store.get(nic)
    shown = entry.document["properties"]["ipConfigurations"] if entry is not None else ()
    inner = (configuration["properties"] for configuration in shown)
    return next(
        (
            str(configuration["privateIPAddress"])
            for configuration in inner
            if configuration.get("privateIPAddressVersion") == "IPv4"
        ),
        "",
    )


def _held(document: Document) -> Iterator[tuple[str, str]]:
    for configuration in document["properties"]["ipConfigurations"]:
        inner = configuration["properties"]
        yield str(inner["subnet"]["id"]).lower(), inner["privateIPAddress"]


def _give_addresses_back(state: State, document: Document) -> None:
    for subnet, address in _held(document):
        if subnet in state.addresses:
            state.addresses[subnet].give_back([address])


def _pool_exists(state: State, pool: str) -> bool:
    head, marker, _ = pool.lower().partition("/backendaddresspools/")
    balancer = state.store.get(head) if marker else None
    if balancer is None:
        return False
    pools = items(balancer.document["properties"], "backendAddressPools")
    return any(str(item.get("id", "")).lower() == pool.lower() for item in pools)


def _mac(id_: ResourceId) -> str:
    digits = guid_of(f"mac{id_.key}").replace("-", "").upper()
    return "-".join(("00", "0D", "3A", digits[0:2], digits[2:4], digits[4:6]))


def _put(state: State, request: Request) -> Response:
    id_ = nic_id(state, request)
    body = body_of(request)
    location = state.location_of(body, FULL_TYPE, id_)
    old = state.store.get(id_)
    existed = old is not None
    check_etag(request, old.document if old is not None else None)
    document = create(state, id_, body, location)
    operation = state.begin(
        Subject("PUT", TYPE, id_.name, location=location),
        id_,
        location=location,
        seconds=state.timing.nic,
        finish=no_effect,
        failed=partial(deletion.failed, state, (id_,)),
    )
    return state.operations.accepted(200 if existed else 201, operation, request.api_version, document)


def _get(state: State, request: Request) -> Response:
    return Response(200, body=state.found(nic_id(state, request)).document)


def _patch(state: State, request: Request) -> Response:
    entry = state.found(nic_id(state, request))
    document = {**entry.document, "tags": tags_after(entry.document, body_of(request))}
    state.store.put(entry.id, document)
    return Response(200, body=document)


def _delete(state: State, request: Request) -> Response:
    id_ = nic_id(state, request)
    entry = state.store.get(id_)
    if entry is None:
        return Response(204)
    user = section(entry.document["properties"], "virtualMachine").get("id")
    if user:
        raise refuse("NicInUse", id=entry.id, user=user)
    reserved = reserved_for(state, id_)
    if reserved:
        raise refuse("NicReservedForAnotherVm", user=reserved)
    location = str(entry.document["location"])
    deletion.mark(state, id_)
    operation = state.begin(
        Subject("DELETE", TYPE, id_.name, location=location),
        id_,
        location=location,
        seconds=state.timing.nic,
        finish=partial(remove, state, id_),
        failed=partial(deletion.failed, state, (id_,)),
    )
    return state.operations.accepted(202, operation, request.api_version)


def _list(state: State, request: Request) -> Response:
    group = request.params.get("group")
    if group is not None:
        state.group(request.params["subscription"], group)
    entries = state.store.list(FULL_TYPE, subscription=request.params["subscription"], group=group)
    return page(request, [entry.document for entry in entries], size=None, base_url=state.settings.base_url)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", f"{_GROUP}/{{nic}}", _put)
    yield Route("GET", f"{_GROUP}/{{nic}}", _get)
    yield Route("PATCH", f"{_GROUP}/{{nic}}", _patch)
    yield Route("DELETE", f"{_GROUP}/{{nic}}", _delete)
    yield Route("GET", _GROUP, _list)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{FULL_TYPE}", _list)
