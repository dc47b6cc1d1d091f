"""Resources and groups that are being deleted: marked as such, and what Azure says to whoever would change them meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request
from fakeazure.arm.texts import refuse
from fakeazure.state import State
from fakeazure.store import DELETING, Entry, marked

__all__ = ["DELETING", "check", "check_use", "failed", "mark", "marked", "refusal"]

_WRITES = ("PUT", "PATCH", "POST")
_READS = ("list", "retrieve", "export")
"""The beginnings of the names of POST actions that only read."""
_SETS = "microsoft.compute/virtualmachinescalesets"
_COMPUTE: Mapping[str, str] = {
    "virtualmachines": "VM",
    "disks": "Disk",
    "snapshots": "Snapshot",
    "images": "Image",
}
"""Type of Microsoft.Compute → how its refusals name it."""


def mark(state: State, id_: ResourceId, provisioning: str = DELETING) -> None:
    """Let a resource be in a provisioning state; nothing happens if it is not there."""
    entry = state.store.get(id_)
    if entry is not None:
        properties = {**entry.document["properties"], "provisioningState": provisioning}
        state.store.put(entry.id, {**entry.document, "properties": properties})


def failed(state: State, ids: tuple[ResourceId, ...], failure: Failure) -> None:
    """Finish a deletion, or a creation, that failed: the resources stay, and show it."""
    for id_ in ids:
        mark(state, id_, "Failed")


def refusal(id_: ResourceId, operation: str) -> ArmError:
    """Return the refusal of a change of a resource that is being deleted; each provider has words of its own."""
    namespace, kind = id_.namespace.lower(), id_.types[-1].lower()
    if id_.type.lower() == _SETS:
        return refuse("ScaleSetMarkedForDeletion", operation=operation, name=id_.name)
    if namespace == "microsoft.compute":
        return refuse("MarkedForDeletion", operation=operation, name=id_.name, kind=_COMPUTE.get(kind, id_.types[-1]))
    if namespace == "microsoft.containerservice":
        return refuse("AksOperationInProgress", name=id_.name)
    return refuse("AnotherOperationInProgress", id=id_)


def check(state: State, request: Request) -> None:
    """Refuse to change what is being deleted, or is in something that is: a group, a set with its instances, a cluster with its pools."""
    delete = request.method == "DELETE"
    if not (delete or request.method in _WRITES) or "group" not in request.params:
        return
    leaf = request.path.rstrip("/").rpartition("/")[2]
    if request.method == "POST" and leaf.lower().startswith(_READS):
        return
    group = state.groups.get((request.params["subscription"].lower(), request.params["group"].lower()))
    if group is not None and marked(group) and not delete:
        raise refuse("ResourceGroupBeingDeleted", group=group["name"])
    parts = [part for part in request.path.split("/") if part]
    last = len(parts) - 1 if delete else len(parts)  # what is being deleted can be deleted again, what is in it cannot
    for end in range(8, last + 1, 2):
        entry = state.store.get(f"/{'/'.join(parts[:end])}")
        if entry is not None and marked(entry.document):
            raise refusal(entry.id, _operation(request, entry.id, leaf))


def _operation(request: Request, id_: ResourceId, leaf: str) -> str:
    """Return the operation's name in Azure's refusals: `Update VM`, `Update Virtual Machine Scale Set` as recorded, an
    action by its name.
    """
    if request.method == "POST":
        return leaf
    if request.method == "DELETE":
        return "delete"
    kind = "Virtual Machine Scale Set" if id_.type.lower() == _SETS else _COMPUTE.get(id_.types[-1].lower(), "Resource")
    return f"Update {kind}"


def check_use(entry: Entry, operation: str) -> None:
    """Refuse a request that would use a resource that is being deleted. Raises ArmError."""
    if marked(entry.document):
        raise refusal(entry.id, operation)
