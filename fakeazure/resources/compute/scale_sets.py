"""Virtual machine scale sets: uniform ones with instances of their own, flexible ones whose instances are VMs.

All of them count against quota and stock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, items, merged, section, tags_after, text
from fakeazure.arm.errors import ArmError
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.lists import wanted_by
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import Failed, Finish, no_effect
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.compute import vm_disks, vm_lifecycle
from fakeazure.resources.compute.scale_set_instances import (
    begin_deletion,
    change,
    chosen,
    instances,
    mark_outdated,
    scale,
    take,
)
from fakeazure.resources.compute.scale_set_views import INSTANCE_FIELDS, filter_facts, instance_view, set_shown, shown
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.resources.compute.vm_views import shown as vm_shown
from fakeazure.resources.compute.vm_views import with_booleans, without_empty, without_secrets
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp

SETS = Kind("Microsoft.Compute", "virtualMachineScaleSets", ("sku", "identity", "zones", "plan"))
_ALL = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{SETS.type}"
_ONE = f"{_ALL}/{{name}}"
_INSTANCE = f"{_ONE}/virtualMachines/{{instance}}"


def clear(state: State, entry: Entry) -> None:
    """Take a set away with all that is in it."""
    for instance in instances(state, entry.id):
        take(state, instance.id)
    state.store.remove(entry.id)


def _put(state: State, request: Request) -> Response:
    id_, body = SETS.id_of(state, request), body_of(request)
    location = state.location_of(body, id_.type, id_)
    old = state.store.get(id_)
    before = old.document if old is not None else None
    check_etag(request, before)
    document = _document(id_, body, location, before)
    document["properties"] = {
        "orchestrationMode": "Uniform",
        "singlePlacementGroup": False,
        "platformFaultDomainCount": 1,
        "upgradePolicy": {"mode": "Manual"},
        "uniqueId": guid_of(str(id_)),
        "timeCreated": timestamp(state.now()),
        **document["properties"],
    }
    if sku := text(section(document, "sku"), "name"):
        known_size(state, sku, location)
    return _kept(state, request, id_, document, 200 if old is not None else 201)


def _patch(state: State, request: Request) -> Response:
    id_ = SETS.id_of(state, request)
    old, body = state.found(id_).document, body_of(request)
    patch = {"sku": section(body, "sku"), "properties": section(body, "properties")}
    patch |= {key: body[key] for key in ("identity", "plan") if key in body}
    wanted = {**merged(old, patch), "tags": tags_after(old, body)}
    return _kept(state, request, id_, _document(id_, wanted, old["location"], old), 200)


def _document(
    id_: ResourceId, body: Mapping[str, Any], location: str, before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The ARM document of a body, without what Azure never shows (passwords, custom data) and the empty object that it drops."""
    document = SETS.document(id_, body, location, before)
    properties = without_empty(document["properties"])
    profile = section(properties, "virtualMachineProfile")
    if machine := section(profile, "osProfile"):
        profile = properties["virtualMachineProfile"] = {**profile, "osProfile": without_secrets(machine)}
    if network := section(profile, "networkProfile"):
        properties["virtualMachineProfile"] = {**profile, "networkProfile": with_booleans(network)}
    document["properties"] = properties
    return document


def keep(state: State, id_: ResourceId, document: dict[str, Any]) -> None:
    """Let a set be as `document` says, with as many instances. Raises ArmError when they cannot be had; then it is as before."""
    old = state.store.get(id_)
    state.store.put(id_, document)
    manual = text(section(document["properties"], "upgradePolicy"), "mode", "Manual") != "Automatic"
    if old is not None and manual and _profile(old.document) != _profile(document):
        mark_outdated(state, id_)
    try:
        scale(state, id_, document)
    except ArmError:
        if old is None:
            state.store.remove(id_)
        else:
            state.store.put(id_, old.document)
        raise


def _profile(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return section(document["properties"], "virtualMachineProfile")


def _kept(state: State, request: Request, id_: ResourceId, document: dict[str, Any], status: int) -> Response:
    keep(state, id_, document)
    operation = state.begin(
        Subject(request.method, SETS.name, id_.name, location=document["location"]),
        id_,
        location=document["location"],
        seconds=state.timing.vm_create if status == 201 else state.timing.vm_update,
        finish=no_effect,
    )
    return state.operations.accepted(status, operation, request.api_version, set_shown(document))


def _delete(state: State, request: Request) -> Response:
    entry = state.store.get(SETS.id_of(state, request))
    if entry is None:
        return Response(204)
    deletion.mark(state, entry.id)
    failed = partial(deletion.failed, state, (entry.id,))
    return _acted(state, request, entry, state.timing.vm_delete, partial(clear, state, entry), failed)


def _acted(
    state: State, request: Request, entry: Entry, seconds: float, finish: Finish, failed: Failed | None = None
) -> Response:
    location = str(entry.document["location"])
    subject = Subject(request.method, SETS.name, entry.id.name, location=location)
    operation = state.begin(subject, entry.id, location=location, seconds=seconds, finish=finish, failed=failed)
    return state.operations.accepted(202, operation, request.api_version)


def _delete_instances(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    leaving = chosen(state, request, entry.id)
    for instance in leaving:
        begin_deletion(state, instance.id)
    ids = tuple(instance.id for instance in leaving)
    finish, failed = partial(take_instances, state, entry.id, ids), partial(deletion.failed, state, ids)
    return _acted(state, request, entry, state.timing.vm_delete, finish, failed)


def take_instances(state: State, id_: ResourceId, deleted: tuple[ResourceId, ...]) -> None:
    """Finish the deletion of instances of a set, whose capacity is then what is left; the set may have gone before them."""
    for instance in deleted:
        take(state, instance)
    entry = state.store.get(id_)
    if entry is not None:
        sku = {**section(entry.document, "sku"), "capacity": len(instances(state, id_))}
        state.store.put(id_, {**entry.document, "sku": sku})


def _power(to: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        wanted = chosen(state, request, SETS.id_of(state, request))
        if "instanceIds" in (request.body or {}):
            for instance in wanted:
                deletion.check_use(instance, request.path.rpartition("/")[2])
        finish = partial(power, state, tuple(instance.id for instance in wanted), to)
        return _acted(state, request, state.found(SETS.id_of(state, request)), state.timing.vm_power, finish)

    return handler


def power(state: State, instances: tuple[ResourceId, ...], to: str) -> None:
    """Finish an action on instances: those that are there are in that power state."""
    for id_ in instances:
        entry = state.store.get(id_)
        if entry is not None and id_.key in state.instances:
            state.store.put(id_, {**entry.document, "properties": {**entry.document["properties"], "power": to}})
        else:
            vm_lifecycle.power(state, id_, to)


def _list_instances(state: State, request: Request) -> Response:
    """The instances of a set under a filter; the VMs of a flexible set are listed as instances, too."""
    expand, wanted = request.query.get("$expand", ""), wanted_by(request, INSTANCE_FIELDS)
    listed = [
        shown(entry.document, expand) if "instanceId" in entry.document else vm_shown(state, entry.document, expand)
        for entry in chosen(state, request, SETS.id_of(state, request))
        if "instanceId" not in entry.document or any(map(wanted, filter_facts(entry.document)))
    ]
    return Response(200, body={"value": listed})


def _instance(state: State, request: Request) -> Response:
    [instance] = chosen(state, request, SETS.id_of(state, request))
    return Response(200, body=shown(instance.document, request.query.get("$expand", "")))


def _get(state: State, request: Request) -> Response:
    document = state.found(SETS.id_of(state, request)).document
    return Response(200, body=set_shown(document, request.query.get("$expand", "")))


def _list(state: State, request: Request) -> Response:
    answer = SETS.list(state, request)
    listed = [set_shown(document) for document in (answer.body or {})["value"]]
    return replace(answer, body={**(answer.body or {}), "value": listed})


def _own_instance(state: State, request: Request) -> Entry:
    """Return the instance of a uniform set that a request is about. Refuses the VM of a flexible one."""
    [instance] = chosen(state, request, SETS.id_of(state, request))
    if instance.id.key not in state.instances:
        raise refuse("FlexibleInstance", name=instance.id.name)
    return instance


def _change_instance(state: State, request: Request) -> Response:
    """Change the tags and data disks of an instance, as the driver of Azure disks does; it is made by the set's capacity only."""
    instance, body = _own_instance(state, request), body_of(request)
    if "location" in body:
        state.location_of(body, instance.id.type, instance.id)
    document = change(state, instance, body)
    entry = state.found(SETS.id_of(state, request))
    location = str(entry.document["location"])
    subject = Subject(request.method, "virtualMachineScaleSets/virtualMachines", instance.id.name, location=location)
    operation = state.begin(subject, instance.id, location=location, seconds=state.timing.vm_update, finish=no_effect)
    return state.operations.accepted(200, operation, request.api_version, shown(document))


def _attach_detach(state: State, request: Request) -> Response:
    """Attach and detach data disks of an instance in one call."""
    instance = _own_instance(state, request)
    there = items(section(instance.document["properties"], "storageProfile"), "dataDisks")
    most = state.instances[instance.id.key].size.number("MaxDataDiskCount")
    disks = vm_disks.attached_and_detached(instance.id, there, body_of(request), most)
    document = change(state, instance, {"properties": {"storageProfile": {"dataDisks": disks}}})
    storage = document["properties"]["storageProfile"]
    return state.act(request, instance.id, state.timing.vm_update, result=storage)


def _instance_view(state: State, request: Request) -> Response:
    if "instance" in request.params:
        return Response(200, body=instance_view(chosen(state, request, SETS.id_of(state, request))[0].document))
    chosen_instances = chosen(state, request, SETS.id_of(state, request))
    summary = [{"code": "ProvisioningState/succeeded", "count": len(chosen_instances)}]
    return Response(200, body={"virtualMachine": {"statusesSummary": summary}, "statuses": []})


def _skus(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    sku = section(entry.document, "sku")
    capacity = {"minimum": 0, "maximum": 1000, "defaultCapacity": 1, "scaleType": "Automatic"}
    return Response(200, body={"value": [{"resourceType": SETS.type, "sku": sku, "capacity": capacity}]})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", _ONE, _put)
    yield Route("GET", _ONE, _get)
    yield Route("PATCH", _ONE, _patch)
    yield Route("DELETE", _ONE, _delete)
    yield Route("GET", _ALL, _list)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{SETS.type}", _list)
    yield Route("GET", f"{_ONE}/virtualMachines", _list_instances)
    yield Route("GET", f"{_ONE}/skus", _skus)
    yield Route("POST", f"{_ONE}/delete", _delete_instances)
    yield Route("GET", _INSTANCE, _instance)
    yield Route("PUT", _INSTANCE, _change_instance)
    yield Route("PATCH", _INSTANCE, _change_instance)
    yield Route("POST", f"{_INSTANCE}/attachDetachDataDisks", _attach_detach)
    yield Route("DELETE", _INSTANCE, _delete_instances)
    for pattern in (_ONE, _INSTANCE):
        yield Route("GET", f"{pattern}/instanceView", _instance_view)
        for action, to in (("start", "running"), ("powerOff", "stopped"), ("deallocate", "deallocated")):
            yield Route("POST", f"{pattern}/{action}", _power(to))
        for action in ("restart", "redeploy", "reimage"):
            yield Route("POST", f"{pattern}/{action}", _power("running"))
