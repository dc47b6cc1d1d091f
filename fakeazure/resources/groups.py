"""Resource groups, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

from fakeazure.arm.bodies import body_of, pairs, section, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.lists import largest_page, wanted_by
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.market.match import Subject
from fakeazure.resources.compute import scale_sets, vm_lifecycle
from fakeazure.resources.deletion import DELETING, marked
from fakeazure.resources.network import network_interfaces
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp

ONE = "/subscriptions/{subscription}"
GROUP = f"{ONE}/resourceGroups/{{group}}"


def _groups(state: State, request: Request) -> Response:
    wanted = request.params["subscription"].lower()
    groups: list[Mapping[str, Any]] = [group for (owner, _), group in state.groups.items() if owner == wanted]
    return Response(200, body={"value": _wanted(request, [(group, {}, group["tags"]) for group in groups], _OF_TAGS)})


_OF_TAGS: Mapping[str, bool] = MappingProxyType({"tagName": True, "tagValue": False})
"""The fields of a filter on groups, and whether each is compared without case: names of tags are, their values are not.
"""
_OF_RESOURCES: Mapping[str, bool] = MappingProxyType(
    {
        **_OF_TAGS,
        **dict.fromkeys(("resourceType", "name", "resourceGroup", "location", "identity/principalId"), True),
        **dict.fromkeys(("plan/publisher", "plan/product", "plan/name", "plan/version", "plan/promotionCode"), True),
    }
)
"""The fields of a filter on resources (azure-rest-api-specs, Resources_List)."""
_Facts: TypeAlias = Mapping[str, str]


def _wanted(
    request: Request, items: Sequence[tuple[Mapping[str, Any], _Facts, _Facts]], fields: Mapping[str, bool]
) -> list[Mapping[str, Any]]:
    """Return the documents that `$filter` lets pass, `$top` at most; each comes with its facts and its tags.

    A filter about tags asks for one tag with that name and value.
    """
    passes, most = wanted_by(request, fields), largest_page(request)
    documents = [
        document
        for document, facts, tags in items
        if any(passes({**facts, "tagName": name, "tagValue": value}) for name, value in tags.items()) or passes(facts)
    ]
    return documents if most is None else documents[:most]


def _group(state: State, request: Request) -> Response:
    return Response(200, body=state.group(request.params["subscription"], request.params["group"]))


def _exists(state: State, request: Request) -> Response:
    exists = (request.params["subscription"].lower(), request.params["group"].lower()) in state.groups
    return Response(204 if exists else 404)


def _put_group(state: State, request: Request) -> Response:
    subscription, name = request.params["subscription"], request.params["group"]
    body = body_of(request)
    _check_name(name)
    location = state.location_of(body, "resourceGroups")
    old = state.groups.get((subscription.lower(), name.lower()))
    if old is not None and old["location"] != location:
        raise refuse("InvalidResourceGroupLocation", group=old["name"], location=old["location"])
    state.add_group(subscription, old["name"] if old is not None else name, location, pairs(body, "tags"))
    return Response(200 if old is not None else 201, body=state.group(subscription, name))


def _check_name(name: str) -> None:
    """Refuse a name of a group that ARM refuses: letters and digits of any script, `-`, `.`, `_` and brackets, 90 at most."""
    wrong = "".join(letter for letter in dict.fromkeys(name) if not (letter.isalnum() or letter in "-._()"))
    if wrong:
        raise refuse("InvalidResourceGroup", name=name, characters=wrong)
    if name.endswith("."):
        raise refuse("ResourceGroupNameEnd", name=name)
    if len(name) > 90:
        raise refuse("ResourceGroupNameLength", name=name)


def _patch_group(state: State, request: Request) -> Response:
    subscription, name = request.params["subscription"], request.params["group"]
    old, body = state.group(subscription, name), body_of(request)
    tags = pairs(body, "tags") if "tags" in body else old["tags"]
    state.groups[(subscription.lower(), name.lower())] = {**old, "tags": tags}
    return Response(200, body=state.group(subscription, name))


def _delete_group(state: State, request: Request) -> Response:
    subscription, name = request.params["subscription"], request.params["group"]
    group = state.group(subscription, name)
    key = (subscription.lower(), name.lower())
    state.groups[key] = {**group, "properties": {"provisioningState": DELETING}}

    id_ = group_id(subscription, group["name"])
    finish = partial(deleted, state, subscription, name)
    failed = partial(roll_back, state, key, group["properties"])
    subject = Subject("DELETE", "resourceGroups", group["name"], location=group["location"])
    operation = state.begin(
        subject, id_, location=group["location"], seconds=state.timing.resource, finish=finish, failed=failed
    )
    return by_location(state.operations.accepted(202, operation, request.api_version))


def group_id(subscription: str, name: str) -> ResourceId:
    """Return the id of a resource group, as of a resource in itself."""
    return ResourceId(subscription, name, "Microsoft.Resources", ("resourceGroups",), (name,))


def by_location(answer: Response) -> Response:
    """Return an answer that names its operation in `Location` alone, as ARM's own to groups do."""
    headers = {name: value for name, value in answer.headers.items() if name != "Azure-AsyncOperation"}
    return Response(answer.status, headers)


def roll_back(state: State, key: tuple[str, str], properties: Mapping[str, Any], failure: Failure) -> None:
    """Let a group whose deletion failed be as it was before, as ARM says of one that it cannot delete."""
    if key in state.groups:
        state.groups[key] = {**state.groups[key], "properties": properties}


def deleted(state: State, subscription: str, name: str) -> None:
    """Finish the deletion of a group; one that somebody made anew after an earlier deletion stays."""
    group = state.groups.get((subscription.lower(), name.lower()))
    if group is not None and marked(group):
        delete(state, subscription, name)


def delete(state: State, subscription: str, name: str) -> None:
    """Take a group away with all that is in it: VMs first, then the rest; a cluster takes its node resource group along."""
    if state.groups.pop((subscription.lower(), name.lower()), None) is None:
        return
    entries = [entry for entry in state.store.all() if _in(entry, subscription, name)]
    for entry in entries:
        if entry.id.key in state.vms:
            vm_lifecycle.remove(state, entry.id)
    for entry in entries:
        clear(state, entry)
    state.forget_group(subscription, name)


def clear(state: State, entry: Entry) -> None:
    """Take one resource away, as a whole, with what only exists for it."""
    kind = entry.id.type.lower()
    if kind == network_interfaces.FULL_TYPE.lower():
        network_interfaces.remove(state, entry.id)
    elif kind == scale_sets.SETS.type.lower():
        scale_sets.clear(state, entry)
    elif state.store.get(entry.id) is not None:
        state.store.remove(entry.id)
    state.market.reservations.drop(str(entry.id))
    if kind == "microsoft.containerservice/managedclusters":
        nodes = text(entry.document["properties"], "nodeResourceGroup")
        if nodes:
            delete(state, entry.id.subscription, nodes)


def _in(entry: Entry, subscription: str, group: str | None) -> bool:
    return entry.id.subscription.lower() == subscription.lower() and (
        group is None or entry.id.group.lower() == group.lower()
    )


_SHOWN = ("id", "name", "type", "location", "tags", "sku", "kind", "identity", "managedBy", "zones")


_EXPANDED: Mapping[str, tuple[str, Callable[[Entry], str]]] = MappingProxyType(
    {
        "createdtime": ("createdTime", lambda entry: timestamp(entry.created)),
        "changedtime": ("changedTime", lambda entry: timestamp(entry.changed)),
        "provisioningstate": (
            "provisioningState",
            lambda entry: str(entry.document["properties"].get("provisioningState", "Succeeded")),
        ),
    }
)
"""The additions of `$expand` to a resource of a list."""


def _resources(state: State, request: Request) -> Response:
    """Top-level resources, of a group or of the subscription, under a filter."""
    group = request.params.get("group")
    if group is not None:
        group = state.group(request.params["subscription"], group)["name"]
    entries = [
        entry
        for entry in state.store.all()
        if len(entry.id.types) == 1 and _in(entry, request.params["subscription"], group)
    ]
    documents = _wanted(
        request, [(entry.document, _facts(entry), entry.document.get("tags") or {}) for entry in entries], _OF_RESOURCES
    )
    more = frozenset(request.query.get("$expand", "").lower().split(",")) & set(_EXPANDED)
    times = {entry.id.key: entry for entry in entries} if more else {}
    items = [
        {key: document[key] for key in _SHOWN if key in document}
        | {_EXPANDED[name][0]: _EXPANDED[name][1](times[document["id"].lower()]) for name in sorted(more)}
        for document in documents
    ]
    return Response(200, body={"value": items})


def _facts(entry: Entry) -> _Facts:
    """Return what a filter on resources can ask for, beside tags."""
    return {
        "resourceType": entry.id.type,
        "name": entry.id.name,
        "resourceGroup": entry.id.group,
        "location": str(entry.document.get("location", "")),
        "identity/principalId": text(section(entry.document, "identity"), "principalId"),
        **{f"plan/{key}": str(value) for key, value in section(entry.document, "plan").items()},
    }


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", f"{ONE}/resourceGroups", _groups)
    yield Route("GET", GROUP, _group)
    yield Route("HEAD", GROUP, _exists)
    yield Route("PUT", GROUP, _put_group)
    yield Route("PATCH", GROUP, _patch_group)
    yield Route("DELETE", GROUP, _delete_group)
    yield Route("GET", f"{GROUP}/resources", _resources)
    yield Route("GET", f"{ONE}/resources", _resources)
