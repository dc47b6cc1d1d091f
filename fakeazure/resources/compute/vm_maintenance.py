"""Actions on a VM beside its power: reapply, generalize, patches, disks in one call; and those that are refused for one
with managed disks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.bodies import body_of, items, section
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources import deletion
from fakeazure.resources.compute import vm_disks
from fakeazure.resources.compute.virtual_machines import ONE, vm_id
from fakeazure.state import State
from fakeazure.timers import timestamp


def _reapply(state: State, request: Request) -> Response:
    """Reapply, perform maintenance: the machine stays as it is."""
    id_ = vm_id(state, request)
    state.found(id_)
    return state.act(request, id_, state.timing.vm_update)


def _generalize(state: State, request: Request) -> Response:
    """Mark the system of a VM that is off as generalized: images are made of it, and it cannot be started again."""
    id_ = vm_id(state, request)
    state.found(id_)
    facts = state.vms[id_.key]
    if facts.power not in ("stopped", "deallocated"):
        raise refuse("GeneralizeRunning", name=id_.name)
    facts.generalized = True
    return Response(200)


def _refused(row: str) -> Handler[State]:
    """Refuse an action that Azure has for VMs with disks in storage accounts only; all VMs here have managed ones."""

    def handler(state: State, request: Request) -> Response:
        id_ = vm_id(state, request)
        state.found(id_)
        raise refuse(row, name=id_.name)

    return handler


def _patches(state: State, request: Request) -> Response:
    """Assess or install patches: there are none."""
    id_ = vm_id(state, request)
    state.found(id_)
    if state.vms[id_.key].power != "running":
        raise refuse("VMNotRunningToRun")
    now = timestamp(state.now())
    result: dict[str, Any] = {"status": "Succeeded", "rebootPending": False, "startDateTime": now}
    if request.path.lower().endswith("assesspatches"):
        counts = {"criticalAndSecurityPatchCount": 0, "otherPatchCount": 0, "availablePatches": []}
        result |= {**counts, "assessmentActivityId": guid_of(f"{id_}{now}")}
        return state.act(request, id_, state.timing.vm_update, result=result)
    words = ("installed", "failed", "notSelected", "excluded", "pending")
    counts = {**{f"{word}PatchCount": 0 for word in words}, "patches": [], "rebootStatus": "NotNeeded"}
    done = {"installationActivityId": guid_of(f"{id_}{now}"), "maintenanceWindowExceeded": False}
    return state.act(request, id_, state.timing.vm_update, result={**result, **counts, **done})


def _attach_detach(state: State, request: Request) -> Response:
    """Attach and detach data disks of a VM in one call."""
    id_, body = vm_id(state, request), body_of(request)
    entry = state.found(id_)
    deletion.check_use(entry, "Update VM")
    before = section(entry.document["properties"], "storageProfile")
    most = state.vms[id_.key].allocation.size.number("MaxDataDiskCount")
    disks = vm_disks.attached_and_detached(id_, items(before, "dataDisks"), body, most)
    storage = vm_disks.completed(state, id_, {"dataDisks": disks}, before, most)
    state.store.put(id_, {**entry.document, "properties": {**entry.document["properties"], "storageProfile": storage}})
    vm_disks.settle(state, id_, before)
    return state.act(request, id_, state.timing.vm_update, result=storage)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", f"{ONE}/reapply", _reapply)
    yield Route("POST", f"{ONE}/performMaintenance", _reapply)
    yield Route("POST", f"{ONE}/generalize", _generalize)
    yield Route("POST", f"{ONE}/capture", _refused("CaptureManaged"))
    yield Route("POST", f"{ONE}/convertToManagedDisks", _refused("AlreadyManaged"))
    yield Route("POST", f"{ONE}/assessPatches", _patches)
    yield Route("POST", f"{ONE}/installPatches", _patches)
    yield Route("POST", f"{ONE}/attachDetachDataDisks", _attach_detach)
