"""Signatures with which somebody reads or writes a disk from elsewhere: while there is one, the disk is neither attached nor deleted."""

from __future__ import annotations

from collections.abc import Iterator

from fakeazure.arm.bodies import body_of, number, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.compute.disks import ACTIVE_SAS, DISKS, SNAPSHOTS, owners
from fakeazure.resources.kinds import Kind
from fakeazure.state import State

_LEVELS = ("none", "read", "write")


def _begin(kind: Kind) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        id_, body = kind.id_of(state, request), body_of(request)
        document = state.found(id_).document
        if text(body, "access", "Read").lower() not in _LEVELS:
            raise refuse("InvalidRequestContent", target="access", reason="'access' must be None, Read or Write.")
        if number(body, "durationInSeconds") <= 0:
            reason = "'durationInSeconds' must be greater than 0."
            raise refuse("InvalidRequestContent", target="durationInSeconds", reason=reason)
        users = owners(document)
        if any(state.vms[user.lower()].power == "running" for user in users if user.lower() in state.vms):
            raise refuse("DiskInUse", name=id_.name, user=users[0])
        set_state(state, id_, ACTIVE_SAS)
        blob = guid_of(f"blob{id_}")
        signature = guid_of(f"{id_}/{state.guids()}").replace("-", "")
        result = {
            "accessSAS": f"https://md-{blob[:12].replace('-', '')}.z1.blob.storage.azure.net/{blob}/abcd"
            f"?sv=2018-03-28&sr=b&si={guid_of(signature)}&sig={signature}"
        }
        return state.act(request, id_, state.timing.resource, result=result)

    return handler


def _end(kind: Kind) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        id_ = kind.id_of(state, request)
        users = owners(state.found(id_).document)
        set_state(state, id_, "Attached" if users else "Unattached")
        return state.act(request, id_, state.timing.resource)

    return handler


def set_state(state: State, id_: ResourceId, to: str) -> None:
    """Let a disk be in a state."""
    document = state.found(id_).document
    state.store.put(id_, {**document, "properties": {**document["properties"], "diskState": to}})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for kind in (DISKS, SNAPSHOTS):
        path = (
            f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{kind.namespace}/{kind.name}/{{name}}"
        )
        yield Route("POST", f"{path}/beginGetAccess", _begin(kind))
        yield Route("POST", f"{path}/endGetAccess", _end(kind))
