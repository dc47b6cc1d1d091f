"""The disks of a VM: made with it, attached to it, and gone or free again when it goes.

A request is judged as a whole before anything of it is done: `completed` names each disk of a storage profile, or refuses the request;
`settle` then makes, attaches and detaches what the document says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from fakeazure.arm.bodies import items, number, section, text, whole
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_id
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources import deletion
from fakeazure.resources.compute.disks import DISKS, LARGEST, attach, check_attach, detach, owners
from fakeazure.resources.names import check_disk
from fakeazure.state import State
from fakeazure.store import Entry

MOST = 64
"""Data disks of a VM, where its size does not say less."""
_SIZE = 30
"""GiB of a disk whose image says no size here."""


def _id(vm: ResourceId, name: str, entity: str = "dataDisk.name") -> ResourceId:
    check_disk(name, entity)
    return ResourceId(vm.subscription, vm.group, DISKS.namespace, (DISKS.name,), (name,))


def _check(disk: Mapping[str, Any]) -> None:
    """Refuse a malformed disk."""
    for name in ("name", "osType", "deleteOption", "createOption"):
        text(disk, name)
    text(section(disk, "managedDisk"), "storageAccountType")
    size = number(disk, "diskSizeGB")
    if disk.get("diskSizeGB") is not None and not 0 < size <= LARGEST:
        raise refuse("DiskSizeOutOfRange", target="disk.diskSizeGB", size=int(size), largest=LARGEST)


def completed(
    state: State, vm: ResourceId, storage: Mapping[str, Any], before: Mapping[str, Any] | None, most: float
) -> dict[str, Any]:
    """Return the storage profile of a VM with each of its disks named by id.

    `before` is the profile of a VM that exists, whose OS disk stays; `most` how many data disks its size takes. Refuses disks that are
    malformed, not there, being deleted, or attached to another VM.
    """
    profile = {"dataDisks": [], **(before or {}), **storage}
    disk = section(profile, "osDisk")
    if disk:
        profile["osDisk"] = _os_disk(state, vm, disk, section(before or {}, "osDisk"))
    disks = [disk for disk in items(profile, "dataDisks") if disk.get("toBeDetached") is not True]
    _check_count(len(disks), most)
    there = {_lun(disk): disk for disk in items(before or {}, "dataDisks") if disk.get("lun") is not None}
    profile["dataDisks"] = [_data_disk(state, vm, disk, there.get(_lun(disk))) for disk in disks]
    _check_distinct(profile)
    return profile


def _check_count(count: int, most: float) -> None:
    if count > (most or MOST):
        raise refuse("TooManyDataDisks", limit=int(most or MOST))


def _lun(disk: Mapping[str, Any]) -> int | None:
    """Return the LUN of a data disk, None where it has none. Refuses a number that is no LUN."""
    if disk.get("lun") is None:
        return None
    lun = whole(disk, "lun")
    if not 0 <= lun < MOST:
        raise refuse("LunOutOfRange", target="dataDisk.lun", lun=lun, last=MOST - 1)
    return lun


def _os_disk(state: State, vm: ResourceId, disk: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    _check(disk)
    managed = {"storageAccountType": "Premium_LRS", **section(before, "managedDisk"), **section(disk, "managedDisk")}
    if before:
        unchanged = {key: before[key] for key in ("name", "createOption") if key in before}
        managed |= {
            key: section(before, "managedDisk")[key] for key in ("id",) if key in section(before, "managedDisk")
        }
        return {**before, **disk, **unchanged, "managedDisk": managed}
    filled = {**disk, "managedDisk": managed}
    if section(disk, "diffDiskSettings") or not (text(disk, "name") or text(managed, "id")):
        return filled
    return _named(state, vm, filled, "osDisk.name")


def _data_disk(
    state: State, vm: ResourceId, disk: Mapping[str, Any], before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """A data disk; without a name it is the one `before` at its LUN, or gets a name as Azure gives it."""
    _check(disk)
    managed = section(disk, "managedDisk")
    if text(disk, "name") or text(managed, "id"):
        return _named(state, vm, disk)
    name = text(before, "name") if before is not None else ""
    return _named(state, vm, {**disk, "name": name or f"{vm.name}_disk_{guid_of(f'{vm.key}/{state.guids()}')[:8]}"})


def _named(state: State, vm: ResourceId, disk: Mapping[str, Any], entity: str = "dataDisk.name") -> dict[str, Any]:
    """A disk with name and id. One that is there must be free, or the VM's own; only `Attach` takes one that it does not have."""
    managed, attached = section(disk, "managedDisk"), text(disk, "createOption").lower() == "attach"
    disk_id = text(managed, "id")
    if disk_id:
        id_ = linked_id(disk_id, "properties.storageProfile.dataDisks.managedDisk.id")
    else:
        id_ = _id(vm, text(disk, "name"), entity)
    entry = state.store.get(id_)
    if entry is None or entry.id.type != DISKS.type:
        if disk_id and (attached or not text(disk, "name")):
            type_, name = DISKS.type, "/".join(id_.names)
            raise refuse("ResourceNotFound", type=type_, name=name, group=id_.group)
        id_ = _id(vm, text(disk, "name") or id_.name, entity)
        entry = state.store.get(id_)
    if entry is not None:
        if not (attached or disk_id) and vm.key not in map(str.lower, owners(entry.document)):
            deletion.check_use(entry, "Attach Disk")
            raise refuse("DiskExists", target=str(entry.id), name=entry.id.name, group=entry.id.group.upper())
        check_attach(entry, vm)
        id_ = entry.id
    return {**disk, "name": id_.name, "managedDisk": {**managed, "id": str(id_)}}


def attached_and_detached(
    vm: ResourceId, there: Sequence[Mapping[str, Any]], body: Mapping[str, Any], most: float
) -> list[Mapping[str, Any]]:
    """Return the data disks of a machine after `attachDetachDataDisks`: `there` are those before,
    `most` how many the machine's size takes.

    Each disk to attach has a LUN, or gets the first that is free. Refuses to detach a disk that is not attached, to attach too many,
    and disks that are malformed.
    """
    leaving = {_disk_id(disk, "dataDisksToDetach").lower() for disk in items(body, "dataDisksToDetach")}
    for name in sorted(leaving - {_managed_id(disk) for disk in there}):
        raise refuse("DiskNotAttached", target="dataDisksToDetach", name=name.rpartition("/")[2], vm=vm.name)
    disks = [disk for disk in there if _managed_id(disk) not in leaving]
    joining = items(body, "dataDisksToAttach")
    _check_count(len(disks) + len(joining), most)
    taken = {_lun(disk) for disk in (*disks, *joining)}
    free = (lun for lun in count() if lun not in taken)
    for wanted in joining:
        lun = _lun(wanted)
        options = {key: wanted[key] for key in ("caching", "deleteOption", "writeAcceleratorEnabled") if key in wanted}
        managed: dict[str, Any] = {"id": _disk_id(wanted, "dataDisksToAttach")}
        if section(wanted, "diskEncryptionSet"):
            managed["diskEncryptionSet"] = section(wanted, "diskEncryptionSet")
        disks.append(
            {"lun": next(free) if lun is None else lun, "createOption": "Attach", "managedDisk": managed, **options}
        )
    return disks


def _managed_id(disk: Mapping[str, Any]) -> str:
    return text(section(disk, "managedDisk"), "id").lower()


def _disk_id(disk: Mapping[str, Any], part: str) -> str:
    """Return the id of a disk that a part of a request names. Refuses one without (required in Microsoft.Compute's DataDisksToAttach)."""
    id_ = text(disk, "diskId")
    if not id_:
        raise refuse("ParameterRequired", target=part, name=f"{part}.diskId")
    return id_


def _check_distinct(storage: Mapping[str, Any]) -> None:
    """Refuse two disks of one name, or at one LUN."""
    names, places = set[str](), set[int]()
    for disk in all_of(storage):
        name = _managed_id(disk)
        if name in names and name:
            raise refuse("DiskNamedTwice", name=disk.get("name"))
        names.add(name)
    for disk in items(storage, "dataDisks"):
        lun = _lun(disk)
        if lun in places:
            raise refuse("LunInUse", lun=lun)
        if lun is not None:
            places.add(lun)


def settle(state: State, vm: ResourceId, before: Mapping[str, Any] | None = None) -> None:
    """Make and attach the disks that a VM's document names; those that only its storage profile `before` names are detached."""
    document, named = state.found(vm).document, set[str]()
    for disk in all_of(section(document["properties"], "storageProfile")):
        id_ = text(section(disk, "managedDisk"), "id")
        if not id_:
            continue  # an ephemeral one, or one that nobody named
        entry = state.store.get(id_)
        if entry is None:
            entry = _made(state, ResourceId.parse(id_), document, disk)
        attach(state, entry, vm)
        named.add(entry.id.key)
    for disk in all_of(before or {}):
        entry = state.store.get(text(section(disk, "managedDisk"), "id"))
        if entry is not None and entry.id.key not in named:
            detach(state, entry, vm)


def _made(state: State, id_: ResourceId, document: Mapping[str, Any], disk: Mapping[str, Any]) -> Entry:
    """Make a disk as the VM's document describes it."""
    option = "FromImage" if "osType" in disk else "Empty"
    properties = {"creationData": {"createOption": option}, "diskSizeGB": disk.get("diskSizeGB") or _SIZE}
    if "osType" in disk:
        properties["osType"] = disk["osType"]
    body = {
        "properties": properties,
        "sku": {"name": section(disk, "managedDisk").get("storageAccountType") or "Premium_LRS"},
        "tags": document.get("tags"),
    }
    if document.get("zones"):
        body["zones"] = document["zones"]
    made = DISKS.document(id_, body, document["location"])
    DISKS.fill(state, id_, made, None)
    return state.store.put(id_, made)


def let_go(state: State, vm: ResourceId, properties: Mapping[str, Any]) -> None:
    """Delete or detach the disks of a deleted VM, as its delete options say; what another machine shares stays."""
    for disk in all_of(section(properties, "storageProfile")):
        entry = state.store.get(text(section(disk, "managedDisk"), "id"))
        if entry is None or vm.key not in map(str.lower, owners(entry.document)):
            continue
        detach(state, entry, vm)
        if text(disk, "deleteOption").lower() == "delete" and len(owners(entry.document)) == 1:
            state.store.remove(entry.id)


def all_of(storage: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the OS disk and the data disks of a storage profile."""
    yield section(storage, "osDisk")
    yield from items(storage, "dataDisks")
