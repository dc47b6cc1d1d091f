"""Instances of scale sets: those of a uniform set are its own, those of a flexible one are VMs. All count against quota and stock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import items, number, pairs, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.compute import scale_set_networks, vm_disks, vm_lifecycle
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp


def _flexible(document: Document) -> bool:
    return text(document["properties"], "orchestrationMode", "Uniform") == "Flexible"


def own_instances(state: State, id_: ResourceId) -> list[Entry]:
    """Return the instances of a uniform set."""
    return list(state.store.children(id_, "virtualMachines"))


def members(state: State, id_: ResourceId) -> list[Entry]:
    """Return the VMs of a flexible set."""
    machines = state.store.list(vm_lifecycle.FULL_TYPE, subscription=id_.subscription)
    return [
        vm
        for vm in machines
        if text(section(vm.document["properties"], "virtualMachineScaleSet"), "id").lower() == id_.key
    ]


def scale(state: State, id_: ResourceId, document: Document) -> None:
    """Add or take away instances until there are as many as the SKU's capacity. Refused, those that came are gone again."""
    wanted = int(number(section(document, "sku"), "capacity"))
    if not 0 <= wanted <= 1000:
        raise refuse("InvalidRequestContent", target="sku.capacity", reason="'capacity' must be between 0 and 1000.")
    add, there = (_add_vm, members) if _flexible(document) else (_add_instance, own_instances)
    now, made = there(state, id_), list[ResourceId]()
    try:
        for _ in range(wanted - len(now)):
            made.append(add(state, id_, document, len(now) + len(made)))
    except ArmError:
        for machine in made:
            take(state, machine)
        raise
    for entry in now[wanted:]:
        take(state, entry.id)


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
            **({"userData": profile["userData"]} if "userData" in profile else {}),
            "power": "running",
        },
    }
    if zone:
        shown["zones"] = [zone]
    state.store.put(instance, shown)
    try:
        scale_set_networks.add(state, instance, section(profile, "networkProfile"), zone)
    except ArmError:
        take(state, instance)
        raise
    nics = [entry.id for entry in state.store.children(instance, "networkInterfaces")]
    if nics:
        references = [{"id": str(nic), "properties": {"primary": place == 0}} for place, nic in enumerate(nics)]
        configuration = section(profile, "networkProfile")
        network = {"networkProfile": {"networkInterfaces": references}, "networkProfileConfiguration": configuration}
        state.store.put(instance, {**shown, "properties": {**shown["properties"], **network}})
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
    for id_of_part, version, body in ((nic, "2022-01-01", nic_body), (vm, "2025-04-01", vm_body)):
        answer = state.send("PUT", str(id_of_part), {"api-version": version}, body)
        if answer.status >= 400:
            error = (answer.body or {}).get("error", {})
            raise ArmError(Failure(str(error.get("code")), str(error.get("message")), answer.status))
    return vm


def take(state: State, id_: ResourceId) -> None:
    """Take an instance, or a VM of a flexible set, away."""
    allocation = state.instances.pop(id_.key, None)
    if allocation is not None:
        properties = state.found(id_).document["properties"]
        state.market.release(allocation)
        scale_set_networks.drop(state, id_)
        state.store.remove(id_)
        vm_disks.let_go(state, id_, properties)
    elif id_.key in state.vms:
        vm_lifecycle.remove(state, id_)


def mark_outdated(state: State, id_: ResourceId) -> None:
    """Let the instances of a uniform set show that its model has changed since they were made."""
    for entry in own_instances(state, id_):
        properties = {**entry.document["properties"], "latestModelApplied": False}
        state.store.put(entry.id, {**entry.document, "properties": properties})


def instances(state: State, id_: ResourceId) -> list[Entry]:
    """Return all that is in a set, of whichever mode."""
    return [*own_instances(state, id_), *members(state, id_)]


def chosen(state: State, request: Request, id_: ResourceId) -> list[Entry]:
    """Return the instances of a set that a request is about: one by its path, some by the body's ids, else all."""
    all_instances = instances(state, state.found(id_).id)
    wanted = texts(request.body if isinstance(request.body, Mapping) else {}, "instanceIds")
    if "instance" in request.params:
        wanted = (request.params["instance"],)
    if not wanted or wanted == ("*",):
        return all_instances
    named = [instance for instance in all_instances if instance.id.name in wanted]
    if len(named) < len(wanted):
        raise refuse("InstanceNotFound", name=", ".join(sorted(set(wanted) - {instance.id.name for instance in named})))
    return named


def begin_deletion(state: State, id_: ResourceId) -> None:
    """Let an instance be marked for deletion; the VM of a flexible set begins its own."""
    if id_.key in state.vms:
        vm_lifecycle.delete(state, id_)
    else:
        deletion.mark(state, id_)


def change(state: State, entry: Entry, body: Mapping[str, Any]) -> Document:
    """Let an instance of a uniform set have the tags and data disks that a body names. Raises ArmError as a VM's disks do."""
    before = storage = section(entry.document["properties"], "storageProfile")
    changes = section(section(body, "properties"), "storageProfile")
    if "dataDisks" in changes:
        most = state.instances[entry.id.key].size.number("MaxDataDiskCount")
        storage = vm_disks.completed(state, entry.id, {"dataDisks": changes["dataDisks"]}, before, most)
    tags = pairs(body, "tags") if "tags" in body else entry.document.get("tags")
    properties = {**entry.document["properties"], "storageProfile": storage}
    document = {**entry.document, "tags": tags, "properties": properties}
    state.store.put(entry.id, document)
    vm_disks.settle(state, entry.id, before)
    return state.found(entry.id).document
