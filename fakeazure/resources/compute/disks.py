"""Managed disks and snapshots: sizes, tiers, and the VM that a disk belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.bodies import number, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.timers import timestamp

GIB = 1024**3
_TIERS = (
    (4, 120, 25, 1), (8, 120, 25, 2), (16, 120, 25, 3), (32, 120, 25, 4), (64, 240, 50, 6), (128, 500, 100, 10),
    (256, 1100, 125, 15), (512, 2300, 150, 20), (1024, 5000, 200, 30), (2048, 7500, 250, 40), (4096, 7500, 250, 50),
    (8192, 16000, 500, 60), (16384, 18000, 750, 70), (32767, 20000, 900, 80),
)  # fmt: skip
"""GiB up to which a premium disk has IOPS, MB/s and tier (learn.microsoft.com, "Select a disk type for Azure IaaS VMs")."""

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
    properties.setdefault("diskState", "Attached" if document.get("managedBy") else "Unattached")
    document.pop("etag", None)  # Azure's disks have none
    if id_.types[-1] == "disks":
        if name.startswith("Premium_"):  # they follow the size
            properties |= {"diskIOPSReadWrite": iops, "diskMBpsReadWrite": throughput, "tier": f"P{tier}"}
        properties.setdefault("diskIOPSReadWrite", iops)
        properties.setdefault("diskMBpsReadWrite", throughput)


def _check(state: State, id_: ResourceId) -> None:
    user = state.found(id_).document.get("managedBy")
    if user:
        raise refuse("DiskInUse", name=id_.name, user=user)


DISKS = Kind(
    "Microsoft.Compute", "disks", ("sku", "zones", "managedBy"), created=202, long=True, fill=_fill, check=_check
)
SNAPSHOTS = Kind("Microsoft.Compute", "snapshots", ("sku",), created=202, long=True, fill=_fill)


def detach(state: State, id_: ResourceId) -> None:
    """Detach a disk from its VM; nothing happens if it does not exist."""
    entry = state.store.get(id_)
    if entry is not None:
        kept = {key: value for key, value in entry.document.items() if key != "managedBy"}
        state.store.put(entry.id, {**kept, "properties": {**kept["properties"], "diskState": "Unattached"}})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from DISKS.routes()
    yield from SNAPSHOTS.routes()
