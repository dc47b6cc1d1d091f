"""VM extensions. Protected settings go to the machine and are never given back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, pairs, section, tags_after
from fakeazure.arm.errors import Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.events import ExtensionInstalled
from fakeazure.market.match import Subject
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.resources.compute.vm_lifecycle import FULL_TYPE, NAMESPACE, TYPE
from fakeazure.state import State

_ONE = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{FULL_TYPE}/{{vm}}/extensions"


def _ids(state: State, request: Request) -> tuple[ResourceId, ResourceId]:
    vm = state.id_of(request, NAMESPACE, (TYPE, "vm"))
    return vm, vm.child("extensions", request.params["extension"])


def _put(state: State, request: Request) -> Response:
    vm, id_ = _ids(state, request)
    machine = state.store.get(vm)
    if machine is None:
        raise refuse("ParentResourceNotFound", action="write", type=f"{TYPE}/extensions", parent=vm)
    body = body_of(request)
    existed = state.store.get(id_) is not None
    properties = section(body, "properties")
    shown = {key: value for key, value in properties.items() if key != "protectedSettings"}
    location = machine.document["location"]
    document: dict[str, Any] = {
        "id": str(id_),
        "name": id_.name,
        "type": f"{FULL_TYPE}/extensions",
        "location": location,
        "tags": pairs(body, "tags"),
        "properties": {**shown, "provisioningState": "Creating" if not existed else "Updating"},
    }
    state.store.put(id_, document)
    secret = section(properties, "protectedSettings")
    operation = state.begin(
        Subject("PUT", "extensions", id_.name, location=location),
        id_,
        location=location,
        seconds=state.timing.extension,
        finish=partial(installed, state, vm, id_, secret),
        failed=partial(failed, state, id_),
    )
    return state.operations.accepted(200 if existed else 201, operation, request.api_version, state.found(id_).document)


def _settle(state: State, id_: ResourceId, provisioning: str) -> bool:
    entry = state.store.get(id_)
    if entry is None:
        return False
    properties = {**entry.document["properties"], "provisioningState": provisioning}
    state.store.put(id_, {**entry.document, "properties": properties})
    return True


def failed(state: State, id_: ResourceId, failure: Failure) -> None:
    """Show that an extension could not be installed."""
    _settle(state, id_, "Failed")


def installed(state: State, vm: ResourceId, id_: ResourceId, secret: Mapping[str, Any]) -> None:
    """Finish the installation of an extension, and emit the event."""
    if _settle(state, id_, "Succeeded"):
        state.events.emit(ExtensionInstalled(vm_lifecycle.snapshot(state, vm), state.now(), id_.name, secret))


def _get(state: State, request: Request) -> Response:
    return Response(200, body=state.found(_ids(state, request)[1]).document)


def _patch(state: State, request: Request) -> Response:
    _, id_ = _ids(state, request)
    old = state.found(id_).document
    document = {**old, "tags": tags_after(old, body_of(request))}
    state.store.put(id_, document)
    return Response(200, body=document)


def _delete(state: State, request: Request) -> Response:
    _, id_ = _ids(state, request)
    if state.store.get(id_) is None:
        return Response(204)
    state.store.remove(id_)
    return Response(200)


def _list(state: State, request: Request) -> Response:
    vm = state.id_of(request, NAMESPACE, (TYPE, "vm"))
    state.found(vm)
    return Response(200, body={"value": [entry.document for entry in state.store.children(vm, "extensions")]})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", f"{_ONE}/{{extension}}", _put)
    yield Route("GET", f"{_ONE}/{{extension}}", _get)
    yield Route("PATCH", f"{_ONE}/{{extension}}", _patch)
    yield Route("DELETE", f"{_ONE}/{{extension}}", _delete)
    yield Route("GET", _ONE, _list)
