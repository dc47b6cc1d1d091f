"""Managed disks and snapshots: sizes, tiers, and the machines that a disk is attached to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.bodies import number, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources import deletion
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp

GIB = 1024**3
_TIERS = (
    (4, 120, 25, 1), (8, 120, 25, 2), (16, 120, 25, 3), (32, 120, 25, 4), (64, 240, 50, 6), (128, 500, 100, 10),
    (256, 1100, 125, 15), (512, 2300, 150, 20), (1024, 5000, 200, 30), (2048, 7500, 250, 40), (4096, 7500, 250, 50),
    (8192, 16000, 500, 60), (16384, 18000, 750, 70), (32767, 20000, 900, 80),
)  # fmt: skip
"""GiB up to which a premium disk has IOPS, MB/s and tier (learn.microsoft.com, "Select a disk type for Azure IaaS VMs")."""

ACTIVE_SAS = "ActiveSAS"
"""State of a disk that somebody has a signature for."""
LARGEST = _TIERS[-1][0]
"""GiB that a disk can have."""


def _fill(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    properties = document["properties"]
    creation = section(properties, "creationData")
    text(creation, "createOption")
    size = number(properties, "diskSizeGB")
    if not size:
        source = state.store.get(text(creation, "sourceResourceId"))
        size = number(source.document["properties"], "diskSizeGB") if source is not None else 0
    if not size and text(creation, "createOption", "Empty") == "Empty":
        raise refuse("DiskSizeRequired", target="disk.diskSizeGB")
    size = int(size) or 30  # of an image, which says no size here
    before = number(old["properties"], "diskSizeGB") if old is not None else 0
    if not 0 < size <= LARGEST:
        raise refuse("DiskSizeOutOfRange", target="disk.diskSizeGB", size=size, largest=LARGEST)
    if size < before:
        raise refuse("DiskShrinkNotAllowed", target="disk.diskSizeGB", name=id_.name, size=size, before=int(before))
    document.setdefault("sku", {"name": "Standard_LRS"})
    name = text(section(document, "sku"), "name", "Standard_LRS")
    document["sku"] = {"name": name, "tier": name.partition("_")[0].removesuffix("V2").removesuffix("SSD")}
    _, iops, throughput, tier = next(row for row in _TIERS if size <= row[0])
    if not name.startswith("Premium"):
        iops, throughput = 500, 60
    created = properties.get("timeCreated") or timestamp(state.now())
    properties |= {
        "diskSizeGB": size,
        "diskSizeBytes": size * GIB,
        "timeCreated": created,
        "uniqueId": guid_of(str(id_)),
    }
    properties.setdefault("encryption", {"type": "EncryptionAtRestWithPlatformKey"})
    properties.setdefault("networkAccessPolicy", "AllowAll")
    properties.setdefault("publicNetworkAccess", "Enabled")
    document.update(_owned({}, owners(old) if old is not None else ()))
    access = old is not None and old["properties"].get("diskState") == ACTIVE_SAS
    properties["diskState"] = ACTIVE_SAS if access else "Attached" if "managedBy" in document else "Unattached"
    document.pop("etag", None)  # Azure's disks have none
    if id_.types[-1] == "disks":
        if name.startswith("Premium_"):  # they follow the size
            properties |= {"diskIOPSReadWrite": iops, "diskMBpsReadWrite": throughput, "tier": f"P{tier}"}
        properties.setdefault("diskIOPSReadWrite", iops)
        properties.setdefault("diskMBpsReadWrite", throughput)


def _check(state: State, id_: ResourceId) -> None:
    document = state.found(id_).document
    users = owners(document)
    if users:
        raise refuse("DiskInUse", name=id_.name, user=users[0])
    check_no_access(document)


def check_no_access(document: Document) -> None:
    """Refuse to use a disk or snapshot that somebody has a signature for."""
    if document["properties"].get("diskState") == ACTIVE_SAS:
        raise refuse("DiskHasSas", name=document["name"])


DISKS = Kind("Microsoft.Compute", "disks", ("sku", "zones"), created=202, long=True, fill=_fill, check=_check)
SNAPSHOTS = Kind("Microsoft.Compute", "snapshots", ("sku",), created=202, long=True, fill=_fill, check=_check)

# A disk is unattached, attached to its owners, or being deleted. It has an owner from the moment in which the request is accepted, so
# that one on its way counts; only `attach` and `detach` change that, a client's `managedBy` and `diskState` never do.


def owners(document: Document) -> tuple[str, ...]:
    """Return the ids of the machines that a disk is attached to: one at most, unless its `maxShares` says more."""
    shared = document.get("managedByExtended")
    if shared:
        return tuple(shared)
    return (document["managedBy"],) if document.get("managedBy") else ()


def _owned(document: Document, users: tuple[str, ...]) -> dict[str, Any]:
    rest = {key: value for key, value in document.items() if key not in ("managedBy", "managedByExtended")}
    if not users:
        return rest
    shared = {"managedByExtended": list(users)} if len(users) > 1 else {}
    return {**rest, "managedBy": users[0], **shared}


def check_attach(entry: Entry, owner: ResourceId) -> None:
    """Refuse to attach a disk that is being deleted, or is attached to as many other machines as may share it."""
    deletion.check_use(entry, "Attach Disk")
    check_no_access(entry.document)
    others = [user for user in owners(entry.document) if user.lower() != owner.key]
    if others and len(others) >= number(entry.document["properties"], "maxShares", 1):
        raise refuse("DiskAttachedElsewhere", target=str(entry.id), name=entry.id.name, vm=owner, user=others[0])


def attach(state: State, entry: Entry, owner: ResourceId) -> None:
    """Attach a disk to a machine. Raises ArmError as `check_attach` does."""
    check_attach(entry, owner)
    users = owners(entry.document)
    if owner.key not in map(str.lower, users):
        _settle(state, entry, (*users, str(owner)))


def detach(state: State, entry: Entry, owner: ResourceId) -> None:
    """Detach a disk from a machine; nothing happens if it is not attached to it."""
    users = owners(entry.document)
    left = tuple(user for user in users if user.lower() != owner.key)
    if left != users:
        _settle(state, entry, left)


def _settle(state: State, entry: Entry, users: tuple[str, ...]) -> None:
    document = _owned(entry.document, users)
    properties = {**document["properties"], "diskState": "Attached" if users else "Unattached"}
    state.store.put(entry.id, {**document, "properties": properties})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from DISKS.routes()
    yield from SNAPSHOTS.routes()
