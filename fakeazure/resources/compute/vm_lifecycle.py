"""The lifecycle of a VM on the platform: accepted, created, powered, evicted, removed; whether a client or AKS asked does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fakeazure.arm.bodies import items, section
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.operations import RUNNING, Operation
from fakeazure.events import (
    CreationFailed,
    Deleted,
    PoweredOff,
    PoweredOn,
    Preempting,
    VirtualMachine,
)
from fakeazure.guids import guid_of
from fakeazure.market.facts import Size
from fakeazure.market.market import Allocation
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.compute import vm_disks
from fakeazure.resources.network import network_interfaces
from fakeazure.state import MachineFacts, State
from fakeazure.timers import timestamp
from lazyrecords import dataclass

NAMESPACE, TYPE = "Microsoft.Compute", "virtualMachines"
FULL_TYPE = f"{NAMESPACE}/{TYPE}"


@dataclass(frozen=True, slots=True)
class Order:
    """A VM to create. `document` is its ARM document in state Creating; `machine` the AKS machine behind which it stands."""

    id: ResourceId
    document: Document
    custom_data: str
    nics: tuple[ResourceId, ...]
    machine: ResourceId | None = None
    aks_labels: Mapping[str, str] = field(default_factory=dict)


def subject_of(state: State, document: Document, nics: Iterable[ResourceId], family: str = "") -> Subject:
    """The facts by which rules of the market pick a VM creation, and those that Azure's refusals name."""
    properties = document["properties"]
    return Subject(
        "PUT",
        TYPE,
        name=document["name"],
        size=section(properties, "hardwareProfile").get("vmSize", ""),
        family=family,
        zone=next(iter(document.get("zones") or ()), ""),
        priority=properties.get("priority", "Regular"),
        location=document["location"],
        ephemeral=_local(section(section(properties, "storageProfile"), "osDisk")),
        networking=any(network_interfaces.constrains(state, nic) for nic in nics),
        reservation_group=group_of(document).lower(),
    )


def group_of(document: Document) -> str:
    """The id of the capacity reservation group that a VM names; empty for none."""
    named = section(section(document["properties"], "capacityReservation"), "capacityReservationGroup").get("id")
    return f"/{named.strip('/')}" if isinstance(named, str) and named else ""


def _local(disk: Mapping[str, Any]) -> bool:
    return str(section(disk, "diffDiskSettings").get("option", "")).lower() == "local"


def create(
    state: State, order: Order, allocation: Allocation, done: Callable[[Failure | None], None] | None = None
) -> Operation:
    """Create a VM that the market accepted. `done` is called with the failure of the operation, None for success."""
    facts = MachineFacts(
        custom_data=order.custom_data,
        allocation=allocation,
        nics=tuple(str(nic) for nic in order.nics),
        created=state.now(),
        machine=order.machine.key if order.machine is not None else None,
        aks_labels=order.aks_labels,
    )
    state.vms[order.id.key] = facts
    state.store.put(order.id, order.document)
    for nic in order.nics:
        state.nic_reservations.pop(nic.key, None)
        network_interfaces.attach(state, nic, order.id)
    vm_disks.settle(state, order.id)
    facts.power = "starting"
    facts.operation = state.operations.start(
        f"PUT {TYPE}",
        subscription=order.id.subscription,
        namespace=NAMESPACE,
        location=order.document["location"],
        seconds=None if allocation.stuck else state.timing.vm_create,
        finish=partial(created, state, order.id, allocation.failure, done),
    )
    return facts.operation


def created(
    state: State, id_: ResourceId, failure: Failure | None, done: Callable[[Failure | None], None] | None
) -> Failure | None:
    """Finish the creation of a VM, and emit the event."""
    state.vms[id_.key].power = "running" if failure is None else "stopped"
    update(state, id_, provisioningState="Succeeded" if failure is None else "Failed")
    if done is not None:
        done(failure)
    vm, now = snapshot(state, id_), state.now()
    state.events.emit(PoweredOn(vm, now) if failure is None else CreationFailed(vm, now, failure.code, failure.message))
    return failure


def update(state: State, id_: ResourceId, **properties: Any) -> Document:
    """Replace some of a VM's properties."""
    entry = state.store.get(id_)
    if entry is None:
        raise LookupError(f"there is no VM {id_}")
    document = {
        **entry.document,
        "etag": f'"{state.guids()}"',
        "properties": {**entry.document["properties"], **properties},
    }
    state.store.put(id_, document)
    return document


def snapshot(state: State, id_: ResourceId) -> VirtualMachine:
    """A VM as events carry it. LookupError if it is not there."""
    entry = state.store.get(id_)
    facts = state.vms.get(id_.key)
    if entry is None or facts is None:
        raise LookupError(f"there is no VM {id_}")
    document = entry.document
    machine = state.store.get(facts.machine) if facts.machine else None
    return VirtualMachine(
        id=str(entry.id),
        name=entry.id.name,
        resource_group=entry.id.group,
        location=document["location"],
        size=section(document["properties"], "hardwareProfile").get("vmSize", ""),
        zone=next(iter(document.get("zones") or ()), ""),
        priority=document["properties"].get("priority", "Regular"),
        tags=document.get("tags") or {},
        custom_data=facts.custom_data,
        document=document,
        machine=machine.document if machine is not None else None,
        aks_labels=facts.aks_labels,
        private_address=next(
            (address for nic in facts.nics if (address := network_interfaces.private_address(state, nic))), ""
        ),
    )


def remove(state: State, id_: ResourceId, *, evicted: bool = False) -> None:
    """Remove a VM now: NIC and disks as their delete options say, quota and stock are given back, and the event Deleted is emitted."""
    entry = state.store.get(id_)
    facts = state.vms.get(id_.key)
    if entry is None or facts is None:
        return
    vm = snapshot(state, id_)
    state.store.remove(id_)
    del state.vms[id_.key]
    if facts.operation is not None and facts.operation.status == RUNNING:
        if deletion.marked(entry.document):
            state.operations.end(facts.operation, None)  # evicted while it is deleted: who asked for that has it
        else:
            state.operations.cancel(facts.operation)
    properties = entry.document["properties"]
    for nic in items(section(properties, "networkProfile"), "networkInterfaces"):
        nic_id = ResourceId.parse(str(nic["id"]))
        if section(nic, "properties").get("deleteOption") == "Delete":
            network_interfaces.remove(state, nic_id)
        else:
            network_interfaces.attach(state, nic_id, None)
    vm_disks.let_go(state, entry.id, properties)
    state.market.release(facts.allocation)
    state.events.emit(Deleted(vm, state.now(), evicted))


def delete(state: State, id_: ResourceId) -> Operation:
    """Begin to delete a VM; for one that is being deleted returns that operation. A running creation is canceled."""
    facts = state.vms[id_.key]
    document = state.found(id_).document
    if deletion.marked(document) and facts.operation is not None:
        return facts.operation
    if facts.operation is not None and facts.operation.status == RUNNING:
        state.operations.cancel(facts.operation)
    update(state, id_, provisioningState=deletion.DELETING)
    operation = state.begin(
        Subject("DELETE", TYPE, id_.name, location=document["location"]),
        id_,
        location=document["location"],
        seconds=state.timing.vm_delete,
        finish=partial(deleted, state, id_, facts),
        failed=partial(delete_failed, state, id_, facts),
    )
    if operation.status == RUNNING:
        facts.operation = operation
    return operation


def deleted(state: State, id_: ResourceId, facts: MachineFacts) -> None:
    """Finish the deletion of a VM."""
    facts.operation = None
    remove(state, id_)


def delete_failed(state: State, id_: ResourceId, facts: MachineFacts, failure: Failure) -> None:
    """Show that a VM could not be deleted."""
    facts.operation = None
    deletion.mark(state, id_, "Failed")


def evict(state: State, id_: ResourceId) -> None:
    """Evict a spot VM: a scheduled event now, the eviction after the notice. ValueError for a VM that is not spot."""
    vm = snapshot(state, id_)
    if vm.priority != "Spot":
        raise ValueError(f"only a spot VM can be evicted: {vm.name} is {vm.priority}")
    facts = state.vms[id_.key]
    not_before = state.now() + state.timing.eviction_notice
    facts.incarnation += 1
    facts.scheduled_events.append(
        {
            "EventId": guid_of(f"{vm.id}/{not_before}").upper(),
            "EventType": "Preempt",
            "ResourceType": "VirtualMachine",
            "Resources": [vm.name],
            "EventStatus": "Scheduled",
            "NotBefore": datetime.fromtimestamp(not_before, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "Description": "",
            "EventSource": "Platform",
            "DurationInSeconds": -1,
        }
    )
    state.events.emit(Preempting(vm, state.now(), not_before))
    state.timers.after(state.timing.eviction_notice, partial(evict_now, state, id_, facts))


def evict_now(state: State, id_: ResourceId, facts: MachineFacts) -> None:
    """Carry out an eviction at its time, if the VM is still the one that was told of it."""
    if state.vms.get(id_.key) is facts:
        take(state, id_)


def take(state: State, id_: ResourceId) -> None:
    """Carry out a scheduled eviction, at its time or when the VM has approved it: delete or deallocate. Does nothing without one."""
    facts = state.vms[id_.key]
    if not facts.scheduled_events:
        return
    facts.scheduled_events.clear()
    facts.incarnation += 1
    if state.found(id_).document["properties"].get("evictionPolicy", "Delete") == "Delete":
        remove(state, id_, evicted=True)
    else:
        power(state, id_, "deallocated")


def power(state: State, id_: ResourceId, to: str) -> None:
    """Set the power state (`running`, `stopped`, `deallocated`), and emit the event if it changes."""
    facts = state.vms.get(id_.key)
    if facts is None or facts.power == to:
        return
    facts.power = to
    vm = snapshot(state, id_)
    state.events.emit(PoweredOn(vm, state.now(), restarted=True) if to == "running" else PoweredOff(vm, state.now()))


def resize(state: State, id_: ResourceId, size: Size) -> None:
    """Give a VM another size: quota and stock are those of the new one, a running VM starts again.

    Raises ArmError where that is refused; the VM then stays as it is.
    """
    facts, document = state.vms[id_.key], state.found(id_).document
    properties = {**document["properties"], "hardwareProfile": {"vmSize": size.name}}
    subject = subject_of(state, {**document, "properties": properties}, map(ResourceId.parse, facts.nics), size.family)
    moved = state.market.exchange(
        facts.allocation, size, subject, subscription=id_.subscription, id_=str(id_), now=state.now()
    )
    if isinstance(moved, Failure):
        raise ArmError(moved)
    facts.allocation = moved
    state.store.put(id_, {**document, "properties": properties})
    if facts.power == "running":
        power(state, id_, "stopped")
        power(state, id_, "running")


def instance_view(state: State, id_: ResourceId) -> dict[str, Any]:
    """Return the content of `instanceView`: provisioning and power state as statuses."""
    document = state.found(id_).document
    facts = state.vms[id_.key]
    provisioning = document["properties"]["provisioningState"]
    word = {"Creating": "creating", "Updating": "updating", "Deleting": "deleting", "Failed": "failed"}.get(
        provisioning, "succeeded"
    )
    statuses: list[dict[str, Any]] = [
        {
            "code": f"ProvisioningState/{word}",
            "level": "Error" if word == "failed" else "Info",
            "displayStatus": f"Provisioning {word}",
            "time": timestamp(facts.created),
        }
    ]
    failure = facts.operation.failure if facts.operation is not None else None
    if failure is not None:
        statuses[0] |= {"code": f"ProvisioningState/failed/{failure.code}", "message": failure.message}
    if word != "failed":
        statuses.append({"code": f"PowerState/{facts.power}", "level": "Info", "displayStatus": f"VM {facts.power}"})
    if facts.generalized:
        statuses.append({"code": "OSState/generalized", "level": "Info", "displayStatus": "VM generalized"})
    return {"computerName": document["name"], "osName": "linux", "statuses": statuses}


def attached_elsewhere(state: State, nics: Sequence[ResourceId], vm: ResourceId) -> tuple[ResourceId, str] | None:
    """The first NIC that belongs to another VM, with that VM's id."""
    for nic in nics:
        entry = state.store.get(nic)
        user = section(entry.document["properties"], "virtualMachine").get("id") if entry is not None else None
        if user and str(user).lower() != vm.key:
            return nic, str(user)
    return None
