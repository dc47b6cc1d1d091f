"""Actions on a VM that exists: power, restart, redeploy, reimage, run a command, read its console, evict it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.bodies import section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import Operation
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.market.match import Subject
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.resources.compute.virtual_machines import ONE, vm_id
from fakeazure.resources.compute.vm_lifecycle import TYPE
from fakeazure.state import State
from fakeazure.timers import timestamp


def _begin(state: State, request: Request, *powers: str) -> Operation:
    """The operation of an action on the VM that a request names; in the end it goes through these power states."""
    id_ = vm_id(state, request)
    location = state.found(id_).document["location"]
    return state.begin(
        Subject("POST", TYPE, id_.name, location=location),
        id_,
        location=location,
        seconds=state.timing.vm_power,
        finish=partial(switch, state, id_, powers),
    )


def switch(state: State, id_: ResourceId, powers: tuple[str, ...]) -> None:
    """Finish an action on a VM: it goes through power states, unless it is gone."""
    for power in powers if id_.key in state.vms else ():
        vm_lifecycle.power(state, id_, power)


def _power(to: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        id_ = vm_id(state, request)
        state.found(id_)
        if to == "running" and state.vms[id_.key].generalized:
            raise refuse("VMGeneralized", operation="start", name=id_.name)
        operation = _begin(state, request, to)
        return state.operations.accepted(202, operation, request.api_version)

    return handler


def _restart(state: State, request: Request) -> Response:
    """Restart, redeploy, reimage: off and on again. A VM that is off stays off, only redeploy and reimage take it."""
    id_ = vm_id(state, request)
    state.found(id_)
    leaf = request.path.rstrip("/").rpartition("/")[2].lower()
    running = state.vms[id_.key].power in ("running", "starting")
    if leaf == "restart" and not running:
        raise refuse("VMNotRunningToRestart", name=id_.name)
    operation = _begin(state, request, *(("stopped", "running") if running else ()))
    return state.operations.accepted(202, operation, request.api_version)


def _run_command(state: State, request: Request) -> Response:
    """Nothing runs: the command succeeds with empty output, in Azure's form."""
    id_ = vm_id(state, request)
    state.found(id_)
    if not text(request.body if isinstance(request.body, Mapping) else {}, "commandId"):
        raise refuse(
            "InvalidRequestContent", target="commandId", reason="Required parameter 'commandId' is missing (null)."
        )
    if state.vms[id_.key].power != "running":
        raise refuse("VMNotRunningToRun")
    operation = _begin(state, request)
    output = {
        "code": "ProvisioningState/succeeded",
        "level": "Info",
        "displayStatus": "Provisioning succeeded",
        "message": "Enable succeeded: \n[stdout]\n\n[stderr]\n",
    }
    operation.result = {"value": [output]}
    return state.operations.accepted(202, operation, request.api_version)


def _console(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    document = state.found(id_).document
    if not section(section(document["properties"], "diagnosticsProfile"), "bootDiagnostics").get("enabled"):
        raise refuse("NoBootDiagnostics", name=id_.name)
    blob = f"{state.settings.base_url}/_fakeazure/console{id_}"
    return Response(
        200,
        body={"consoleScreenshotBlobUri": f"{blob}/screenshot.bmp", "serialConsoleLogBlobUri": f"{blob}/serial.log"},
    )


def serial_log(state: State, id_: str) -> str | None:
    """The serial console log of a VM: when it was powered on; None if there is no such VM."""
    entry, facts = state.store.get(id_), state.vms.get(id_.lower())
    if entry is None or facts is None:
        return None
    image: Mapping[str, Any] = section(section(entry.document["properties"], "storageProfile"), "imageReference")
    shown = text(image, "offer") or text(image, "id") or text(image, "communityGalleryImageId")
    return (
        f"[{timestamp(facts.created)}] {entry.id.name}: created from {shown}\n[{timestamp(state.now())}] {entry.id.name}: "
        f"{facts.power}\n"
    )


def _simulate_eviction(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    state.found(id_)
    try:
        vm_lifecycle.evict(state, id_)
    except ValueError as error:
        raise refuse("InvalidRequestContent", reason=str(error)) from None
    return Response(204)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", f"{ONE}/start", _power("running"))
    yield Route("POST", f"{ONE}/powerOff", _power("stopped"))
    yield Route("POST", f"{ONE}/deallocate", _power("deallocated"))
    for action in ("restart", "redeploy", "reimage"):
        yield Route("POST", f"{ONE}/{action}", _restart)
    yield Route("POST", f"{ONE}/runCommand", _run_command)
    yield Route("POST", f"{ONE}/retrieveBootDiagnosticsData", _console)
    yield Route("POST", f"{ONE}/simulateEviction", _simulate_eviction)
