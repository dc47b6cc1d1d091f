"""Virtual machine scale sets: uniform ones with instances of their own, flexible ones whose instances are VMs.

All of them count against quota and stock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, items, number, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import Finish, no_effect
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.resources.compute.scale_set_views import instance_view, shown
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp

SETS = Kind("Microsoft.Compute", "virtualMachineScaleSets", ("sku", "identity", "zones", "plan"))
_ALL = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{SETS.type}"
_ONE = f"{_ALL}/{{name}}"
_INSTANCE = f"{_ONE}/virtualMachines/{{instance}}"


def _flexible(document: Document) -> bool:
    return text(document["properties"], "orchestrationMode", "Uniform") == "Flexible"


def _instances(state: State, id_: ResourceId) -> list[Entry]:
    return list(state.store.children(id_, "virtualMachines"))


def _members(state: State, id_: ResourceId) -> list[Entry]:
    """The VMs of a flexible set."""
    found = state.store.list(vm_lifecycle.FULL_TYPE, subscription=id_.subscription)
    return [
        vm
        for vm in found
        if text(section(vm.document["properties"], "virtualMachineScaleSet"), "id").lower() == id_.key
    ]


def _scale(state: State, id_: ResourceId, document: Document) -> None:
    """Add or take away instances until there are as many as the SKU's capacity. Refused, those that came are gone again."""
    wanted = int(number(section(document, "sku"), "capacity"))
    if not 0 <= wanted <= 1000:
        raise refuse("InvalidRequestContent", target="sku.capacity", reason="'capacity' must be between 0 and 1000.")
    add, there = (_add_vm, _members) if _flexible(document) else (_add_instance, _instances)
    now, made = there(state, id_), list[ResourceId]()
    try:
        for _ in range(wanted - len(now)):
            made.append(add(state, id_, document, len(now) + len(made)))
    except ArmError:
        for one in made:
            _take(state, one)
        raise
    for entry in now[wanted:]:
        _take(state, entry.id)


def _zone(document: Document, place: int) -> str:
    zones = texts(document, "zones")
    return zones[place % len(zones)] if zones else ""


def _add_instance(state: State, id_: ResourceId, document: Document, place: int) -> ResourceId:
    location, profile = document["location"], section(document["properties"], "virtualMachineProfile")
    size = known_size(state, text(section(document, "sku"), "name"), location)
    number_ = state.next_instance.get(id_.key, 0)
    instance = id_.child("virtualMachines", str(number_))
    priority = text(profile, "priority", "Regular")
    zone = _zone(document, place)
    subject = Subject("PUT", "virtualMachines", instance.name, size.name, size.family, zone, priority, location)
    allocation = state.market.allocate(size, subject, subscription=id_.subscription, id_=str(instance), now=state.now())
    if isinstance(allocation, Failure) or allocation.failure is not None:
        if not isinstance(allocation, Failure):
            state.market.release(allocation)
        failure = allocation if isinstance(allocation, Failure) else allocation.failure
        raise ArmError(failure if failure is not None else Failure("AllocationFailed", "Allocation failed."))
    state.next_instance[id_.key] = number_ + 1
    state.instances[instance.key] = allocation
    prefix = text(section(profile, "osProfile"), "computerNamePrefix", id_.name)
    shown: dict[str, Any] = {
        "id": str(instance),
        "name": f"{id_.name}_{number_}",
        "type": instance.type,
        "location": location,
        "instanceId": str(number_),
        "sku": {"name": size.name, "tier": "Standard"},
        "tags": document.get("tags") or {},
        "properties": {
            "latestModelApplied": True,
            "modelDefinitionApplied": "VirtualMachineScaleSet",
            "vmId": guid_of(instance.key),
            "provisioningState": "Succeeded",
            "timeCreated": timestamp(state.now()),
            "hardwareProfile": {"vmSize": size.name},
            "storageProfile": section(profile, "storageProfile"),
            "osProfile": {"computerName": f"{prefix}{number_:06d}"},
            "networkProfile": section(profile, "networkProfile"),
            "power": "running",
        },
    }
    if zone:
        shown["zones"] = [zone]
    state.store.put(instance, shown)
    return instance


def _add_vm(state: State, id_: ResourceId, document: Document, place: int) -> ResourceId:
    """A VM and its NIC, as the set's profile has them."""
    profile = section(document["properties"], "virtualMachineProfile")
    name = f"{id_.name}_{guid_of(f'{id_.key}/{state.guids()}')[:8]}"
    network = section(profile, "networkProfile")
    [first, *_] = items(network, "networkInterfaceConfigurations") or ({},)
    inner = section(first, "properties")
    nic = ResourceId(id_.subscription, id_.group, "Microsoft.Network", ("networkInterfaces",), (f"{name}-nic",))
    vm = ResourceId(id_.subscription, id_.group, "Microsoft.Compute", ("virtualMachines",), (name,))
    nic_body = {"location": document["location"], "properties": {"ipConfigurations": inner.get("ipConfigurations")}}
    vm_body: dict[str, Any] = {
        "location": document["location"],
        "tags": document.get("tags") or {},
        "zones": [zone] if (zone := _zone(document, place)) else [],
        "properties": {
            **{key: profile[key] for key in ("priority", "evictionPolicy", "billingProfile") if key in profile},
            "hardwareProfile": {"vmSize": text(section(document, "sku"), "name")},
            "storageProfile": section(profile, "storageProfile"),
            "osProfile": {"computerName": name.replace("_", "")[:15]},
            "networkProfile": {"networkInterfaces": [{"id": str(nic), "properties": {"deleteOption": "Delete"}}]},
            "virtualMachineScaleSet": {"id": str(id_)},
        },
    }
    for one, version, body in ((nic, "2022-01-01", nic_body), (vm, "2025-04-01", vm_body)):
        answer = state.send("PUT", str(one), {"api-version": version}, body)
        if answer.status >= 400:
            told = (answer.body or {}).get("error", {})
            raise ArmError(Failure(str(told.get("code")), str(told.get("message")), answer.status))
    return vm


def _take(state: State, id_: ResourceId) -> None:
    """An instance, or a VM of a flexible set, is gone."""
    allocation = state.instances.pop(id_.key, None)
    if allocation is not None:
        state.market.release(allocation)
        state.store.remove(id_)
    elif id_.key in state.vms:
        vm_lifecycle.remove(state, id_)


def clear(state: State, entry: Entry) -> None:
    """Take a set away with all that is in it."""
    for one in (*_instances(state, entry.id), *_members(state, entry.id)):
        _take(state, one.id)
    state.store.remove(entry.id)


def _put(state: State, request: Request) -> Response:
    id_, body = SETS.id_of(state, request), body_of(request)
    location = state.location_of(body, id_.type)
    old = state.store.get(id_)
    before = old.document if old is not None else None
    check_etag(request, before)
    document = SETS.document(id_, body, location, before)
    document["properties"] = {
        "orchestrationMode": "Uniform",
        "singlePlacementGroup": False,
        "platformFaultDomainCount": 1,
        "upgradePolicy": {"mode": "Manual"},
        "uniqueId": guid_of(str(id_)),
        "timeCreated": timestamp(state.now()),
        **document["properties"],
    }
    if sku := text(section(document, "sku"), "name"):
        known_size(state, sku, location)
    return _kept(state, request, id_, document, 200 if old is not None else 201)


def _patch(state: State, request: Request) -> Response:
    id_ = SETS.id_of(state, request)
    old, body = state.found(id_).document, body_of(request)
    sku = {**section(old, "sku"), **section(body, "sku")}
    properties = {**old["properties"], **section(body, "properties")}
    merged = {**old, "sku": sku, "tags": body.get("tags", old.get("tags")), "properties": properties}
    return _kept(state, request, id_, SETS.document(id_, merged, old["location"], old), 200)


def keep(state: State, id_: ResourceId, document: dict[str, Any]) -> None:
    """Let a set be as `document` says, with as many instances. Raises ArmError when they cannot be had; then it is as before."""
    old = state.store.get(id_)
    state.store.put(id_, document)
    try:
        _scale(state, id_, document)
    except ArmError:
        if old is None:
            state.store.remove(id_)
        else:
            state.store.put(id_, old.document)
        raise


def _kept(state: State, request: Request, id_: ResourceId, document: dict[str, Any], status: int) -> Response:
    keep(state, id_, document)
    operation = state.begin(
        Subject(request.method, SETS.name, id_.name, location=document["location"]),
        id_,
        location=document["location"],
        seconds=state.timing.vm_create if status == 201 else state.timing.vm_update,
        finish=no_effect,
    )
    return state.operations.accepted(status, operation, request.api_version, document)


def _delete(state: State, request: Request) -> Response:
    entry = state.store.get(SETS.id_of(state, request))
    if entry is None:
        return Response(204)
    return _acted(state, request, entry, state.timing.vm_delete, partial(clear, state, entry))


def _acted(state: State, request: Request, entry: Entry, seconds: float, finish: Finish) -> Response:
    location = str(entry.document["location"])
    subject = Subject(request.method, SETS.name, entry.id.name, location=location)
    operation = state.begin(subject, entry.id, location=location, seconds=seconds, finish=finish)
    return state.operations.accepted(202, operation, request.api_version)


def _chosen(state: State, request: Request) -> list[Entry]:
    """The instances that a request is about: one by its path, some by the body's ids, else all."""
    entry = state.found(SETS.id_of(state, request))
    found = [*_instances(state, entry.id), *_members(state, entry.id)]
    wanted = texts(request.body if isinstance(request.body, Mapping) else {}, "instanceIds")
    if "instance" in request.params:
        wanted = (request.params["instance"],)
    if not wanted or wanted == ("*",):
        return found
    chosen = [one for one in found if one.id.name in wanted]
    if len(chosen) < len(wanted):
        raise refuse("InstanceNotFound", name=", ".join(sorted(set(wanted) - {one.id.name for one in chosen})))
    return chosen


def _delete_instances(state: State, request: Request) -> Response:
    entry, chosen = state.found(SETS.id_of(state, request)), _chosen(state, request)
    finish = partial(take_instances, state, entry.id, tuple(instance.id for instance in chosen))
    return _acted(state, request, entry, state.timing.vm_delete, finish)


def take_instances(state: State, id_: ResourceId, instances: tuple[ResourceId, ...]) -> None:
    """Finish the deletion of instances of a set, whose capacity is then what is left."""
    for instance in instances:
        _take(state, instance)
    document = state.found(id_).document
    left = len(_instances(state, id_)) + len(_members(state, id_))
    state.store.put(id_, {**document, "sku": {**section(document, "sku"), "capacity": left}})


def _power(to: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        finish = partial(power, state, tuple(instance.id for instance in _chosen(state, request)), to)
        return _acted(state, request, state.found(SETS.id_of(state, request)), state.timing.vm_power, finish)

    return handler


def power(state: State, instances: tuple[ResourceId, ...], to: str) -> None:
    """Finish an action on instances: those that are there are in that power state."""
    for id_ in instances:
        entry = state.store.get(id_)
        if entry is not None and id_.key in state.instances:
            state.store.put(id_, {**entry.document, "properties": {**entry.document["properties"], "power": to}})
        else:
            vm_lifecycle.power(state, id_, to)


def _list_instances(state: State, request: Request) -> Response:
    view = "instanceview" in request.query.get("$expand", "").lower()
    found = _chosen(state, request)
    return Response(
        200,
        body={
            "value": [shown(one.document, view=view) if "instanceId" in one.document else one.document for one in found]
        },
    )


def _instance(state: State, request: Request) -> Response:
    [found] = _chosen(state, request)
    return Response(200, body=shown(found.document, view="instanceview" in request.query.get("$expand", "").lower()))


def _instance_view(state: State, request: Request) -> Response:
    if "instance" in request.params:
        return Response(200, body=instance_view(_chosen(state, request)[0].document))
    found = _chosen(state, request)
    summary = [{"code": "ProvisioningState/succeeded", "count": len(found)}]
    return Response(200, body={"virtualMachine": {"statusesSummary": summary}, "statuses": []})


def _skus(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    sku = section(entry.document, "sku")
    capacity = {"minimum": 0, "maximum": 1000, "defaultCapacity": 1, "scaleType": "Automatic"}
    return Response(200, body={"value": [{"resourceType": SETS.type, "sku": sku, "capacity": capacity}]})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", _ONE, _put)
    yield Route("GET", _ONE, SETS.get)
    yield Route("PATCH", _ONE, _patch)
    yield Route("DELETE", _ONE, _delete)
    yield Route("GET", _ALL, SETS.list)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{SETS.type}", SETS.list)
    yield Route("GET", f"{_ONE}/virtualMachines", _list_instances)
    yield Route("GET", f"{_ONE}/skus", _skus)
    yield Route("POST", f"{_ONE}/delete", _delete_instances)
    yield Route("GET", _INSTANCE, _instance)
    yield Route("DELETE", _INSTANCE, _delete_instances)
    for one in (_ONE, _INSTANCE):
        yield Route("GET", f"{one}/instanceView", _instance_view)
        for action, to in (("start", "running"), ("powerOff", "stopped"), ("deallocate", "deallocated")):
            yield Route("POST", f"{one}/{action}", _power(to))
        for action in ("restart", "redeploy", "reimage"):
            yield Route("POST", f"{one}/{action}", _power("running"))
