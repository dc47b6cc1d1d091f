"""Resources that move to another group, and a group written as a template.

A resource moves with all that it is used by, or not at all. What runs (VMs, scale sets, clusters) is not moved here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.bodies import body_of, text, texts
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_id
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import Finish, no_effect
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.groups import GROUP, by_location, group_id
from fakeazure.state import State
from fakeazure.store import Entry

_SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
_STAY = ("virtualmachines", "virtualmachinescalesets", "managedclusters", "capacityreservationgroups")
"""Types of what is not moved here."""
_FILLED = ("provisioningState", "resourceGuid", "uniqueId", "vmId", "timeCreated", "ipAddress", "etag")
"""Properties that a template does not have: Azure fills them in."""


def _begin(state: State, request: Request, finish: Finish, result: Document | None = None) -> Response:
    group = state.group(request.params["subscription"], request.params["group"])
    id_ = group_id(request.params["subscription"], group["name"])
    answer = state.act(request, id_, state.timing.resource, location=group["location"], finish=finish, result=result)
    return by_location(answer)


def _leaving(state: State, request: Request) -> tuple[list[Entry], str]:
    """The resources that a request moves, and the name of the group that they go to. Refuses what cannot be moved."""
    body, group = body_of(request), state.group(request.params["subscription"], request.params["group"])
    target = text(body, "targetResourceGroup").rstrip("/").rpartition("/")[2]
    to = state.group(request.params["subscription"], target)
    entries = [state.found(linked_id(id_, "resources")) for id_ in texts(body, "resources")]
    if not entries or to["name"] == group["name"]:
        reason = "'resources' must name resources, 'targetResourceGroup' another resource group."
        raise refuse("InvalidRequestContent", reason=reason)
    moved = {entry.id.key for entry in entries}
    for entry in entries:
        for other in state.store.all():
            if any(_within(other.id.key, key) for key in moved):
                continue
            if _names(other.document, entry.id.key):
                raise refuse("MissingMoveDependents", id=entry.id, user=other.id)
        if entry.id.types[0].lower() in _STAY or entry.id.group.lower() != group["name"].lower():
            raise refuse("MoveNotAllowed", id=entry.id)
    return entries, to["name"]


def _names(value: Any, key: str) -> bool:
    """Tell whether a document names a resource, or what is nested in it."""
    if isinstance(value, Mapping):
        return any(_names(inner, key) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_names(inner, key) for inner in value)
    return isinstance(value, str) and _within(value.lower(), key)


def _move(state: State, request: Request) -> Response:
    entries, target = _leaving(state, request)
    return _begin(state, request, partial(move, state, tuple(entry.id for entry in entries), target))


def _validate(state: State, request: Request) -> Response:
    _leaving(state, request)
    return _begin(state, request, no_effect)


def move(state: State, ids: tuple[ResourceId, ...], group: str) -> None:
    """Finish a move: what is still there has a new id, also where others of those that move name it."""
    heads = {f"{id_}": str(_moved(id_, group)) for id_ in ids}
    leaving = [entry for entry in state.store.all() if any(_within(entry.id.key, id_.key) for id_ in ids)]
    addresses = {entry.id.key: state.addresses[entry.id.key] for entry in leaving if entry.id.key in state.addresses}
    for entry in leaving:
        state.store.remove(entry.id)
    for entry in leaving:
        written = json.dumps(entry.document)
        for old, new in heads.items():
            written = written.replace(f'"{old}"', f'"{new}"').replace(f'"{old}/', f'"{new}/')
        id_ = _moved(entry.id, group)
        state.store.put(id_, json.loads(written))
        if entry.id.key in addresses:
            state.addresses[id_.key] = addresses[entry.id.key]


def _within(key: str, top: str) -> bool:
    """Tell whether a key is that of a resource, or of one that is nested in it."""
    return key == top or key.startswith(f"{top}/")


def _moved(id_: ResourceId, group: str) -> ResourceId:
    return ResourceId(id_.subscription, group, id_.namespace, id_.types, id_.names)


def _export(state: State, request: Request) -> Response:
    """The group as a template: what Azure fills in is left out, names stand as they are."""
    group = state.group(request.params["subscription"], request.params["group"])
    wanted = [id_.lower() for id_ in texts(body_of(request), "resources")]
    entries = [
        entry
        for entry in state.store.all()
        if entry.id.group.lower() == group["name"].lower()
        and entry.id.subscription.lower() == request.params["subscription"].lower()
        and ("*" in wanted or any(_within(entry.id.key, id_) for id_ in wanted))
    ]
    template = {
        "$schema": _SCHEMA,
        "contentVersion": "1.0.0.0",
        "parameters": {},
        "variables": {},
        "resources": [_resource(entry) for entry in entries],
    }
    return _begin(state, request, no_effect, {"template": template})


def _resource(entry: Entry) -> dict[str, Any]:
    document = entry.document
    shown = {
        key: document[key] for key in ("location", "tags", "sku", "zones", "identity", "kind") if document.get(key)
    }
    properties = {key: value for key, value in document["properties"].items() if key not in _FILLED}
    after = (
        [f"[resourceId('{entry.id.parent.type}', {_quoted(entry.id.parent)})]"] if entry.id.parent is not None else []
    )
    return {
        "type": entry.id.type,
        "apiVersion": API_VERSIONS[entry.id.namespace][-1] if entry.id.namespace in API_VERSIONS else "",
        "name": "/".join(entry.id.names),
        **shown,
        **({"dependsOn": after} if after else {}),
        "properties": properties,
    }


def _quoted(id_: ResourceId) -> str:
    return ", ".join(f"'{name}'" for name in id_.names)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", f"{GROUP}/moveResources", _move)
    yield Route("POST", f"{GROUP}/validateMoveResources", _validate)
    yield Route("POST", f"{GROUP}/exportTemplate", _export)
