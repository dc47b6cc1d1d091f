"""Managed images: those of a VM have the disks of the VM, which is generalized first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.kinds import Kind
from fakeazure.state import State

_COPIED = ("osType", "diskSizeGB", "caching", "lun")


def _fill(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """Copy the storage profile of the source; the parts of a profile that is given stay."""
    properties = document["properties"]
    properties.setdefault("hyperVGeneration", "V1")
    source = text(section(properties, "sourceVirtualMachine"), "id")
    if not source or section(properties, "storageProfile"):
        return
    entry = state.store.get(source)
    if entry is None or entry.id.key not in state.vms:
        raise refuse("InvalidResourceReference", reference=source, id=id_)
    if not state.vms[entry.id.key].generalized:
        raise refuse("ImageOfRunningVM", target="sourceVirtualMachine", name=entry.id.name)
    storage = section(entry.document["properties"], "storageProfile")
    properties["storageProfile"] = {
        "osDisk": {"osState": "Generalized", **_of(section(storage, "osDisk"))},
        "dataDisks": [_of(disk) for disk in items(storage, "dataDisks")],
        "zoneResilient": False,
    }


def _of(disk: Mapping[str, Any]) -> dict[str, Any]:
    managed = section(disk, "managedDisk")
    copied = {key: disk[key] for key in _COPIED if key in disk}
    if text(managed, "id"):
        copied["managedDisk"] = {"id": managed["id"]}
    if text(managed, "storageAccountType"):
        copied["storageAccountType"] = managed["storageAccountType"]
    return copied


IMAGES = Kind("Microsoft.Compute", "images", fill=_fill)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from IMAGES.routes()
