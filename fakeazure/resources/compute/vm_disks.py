"""The disks of a VM: made with it, attached to it, and gone or free again when it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, number, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.texts import refuse
from fakeazure.resources.compute.disks import DISKS, LARGEST, detach
from fakeazure.state import State


def _id(vm: ResourceId, name: str) -> ResourceId:
    return ResourceId(vm.subscription, vm.group, "Microsoft.Compute", ("disks",), (name,))


def check(storage: Mapping[str, Any]) -> None:
    """Refuse malformed disks, before quota or stock is taken for their VM."""
    for disk in (section(storage, "osDisk"), *items(storage, "dataDisks")):
        text(disk, "name")
        text(disk, "osType")
        text(disk, "deleteOption")
        managed = section(disk, "managedDisk")
        text(managed, "id")
        text(managed, "storageAccountType")
        size = number(disk, "diskSizeGB")
        if disk.get("diskSizeGB") is not None and not 0 < size <= LARGEST:
            raise refuse("DiskSizeOutOfRange", target="disk.diskSizeGB", size=int(size), largest=LARGEST)


def create_os_disk(state: State, vm: ResourceId) -> None:
    """Make the OS disk of a VM, if it is a managed one with a name."""
    document = state.found(vm).document
    disk = section(section(document["properties"], "storageProfile"), "osDisk")
    if text(disk, "name") and not section(disk, "diffDiskSettings"):
        _create(
            state,
            vm,
            document,
            disk,
            {"osType": text(disk, "osType", "Linux"), "creationData": {"createOption": "FromImage"}},
        )


def attach_data_disks(state: State, vm: ResourceId) -> None:
    """Make the data disks that a VM asks for and attach those that are there; those that it no longer names are detached."""
    document = state.found(vm).document
    disks = items(section(document["properties"], "storageProfile"), "dataDisks")
    named = set()
    for disk in disks:
        there = state.store.get(text(section(disk, "managedDisk"), "id"))
        if there is not None:
            named.add(there.id.key)
            state.store.put(there.id, {**_attached(there.document), "managedBy": str(vm)})
        elif text(disk, "name"):
            named.add(_id(vm, text(disk, "name")).key)
            _create(state, vm, document, disk, {"creationData": {"createOption": "Empty"}})
    if not disks and not state.vms[vm.key].data_disks:
        return
    for key in state.vms[vm.key].data_disks - named:
        entry = state.store.get(key)
        if entry is not None:
            detach(state, entry.id)
    state.vms[vm.key].data_disks = frozenset(named)


def _attached(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "properties": {**document["properties"], "diskState": "Attached"}}


def _create(
    state: State, vm: ResourceId, document: Mapping[str, Any], disk: Mapping[str, Any], properties: Mapping[str, Any]
) -> None:
    id_ = _id(vm, text(disk, "name"))
    if state.store.get(id_) is not None:
        return
    body = {
        "properties": {**properties, "diskSizeGB": disk.get("diskSizeGB"), "diskState": "Attached"},
        "sku": {"name": section(disk, "managedDisk").get("storageAccountType") or "Premium_LRS"},
        "managedBy": str(vm),
        "tags": document.get("tags"),
    }
    if document.get("zones"):
        body["zones"] = document["zones"]
    made = DISKS.document(id_, body, document["location"])
    if not disk.get("diskSizeGB"):
        made["properties"]["diskSizeGB"] = 30
    DISKS.fill(state, id_, made, None)
    state.store.put(id_, made)


def let_go(state: State, vm: ResourceId, properties: Mapping[str, Any]) -> None:
    """Delete or detach the disks of a deleted VM, as its delete options say."""
    for disk in _all(properties):
        there = state.store.get(text(section(disk, "managedDisk"), "id")) or state.store.get(
            _id(vm, text(disk, "name"))
        )
        if there is None:
            continue
        if disk.get("deleteOption") == "Delete":
            state.store.remove(there.id)
        else:
            detach(state, there.id)


def _all(properties: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    storage = section(properties, "storageProfile")
    yield section(storage, "osDisk")
    yield from items(storage, "dataDisks")
