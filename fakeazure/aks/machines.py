"""AKS machines: one PUT is a VM; one PUT with the `BatchPutMachine` header is many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fakeazure.aks import machine_launch, pool_scale_sets
from fakeazure.aks.managed_clusters import POOL, found_cluster, found_pool
from fakeazure.arm.bodies import body_of, pairs, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import Operation, no_effect
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import failure, refuse
from fakeazure.market.facts import Size
from fakeazure.market.faults import STUCK
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.resources.names import check_machine
from fakeazure.state import State
from fakeazure.timers import timestamp
from lazyrecords import dataclass

NAMESPACE, TYPE = "Microsoft.ContainerService", "machines"
BATCH_HEADER = "BatchPutMachine"
SPOT_SYSTEM_HEADER = "AllowSpotVMSystemNode"
"""The header, true, without which no spot machine may be of mode System (kaz pkg/providers/azclient/spotsystemnode.go)."""
MAX_NAME = 34


@dataclass(slots=True)
class Outcome:
    """The outcome of the creation of the VM behind a machine; None before its end, and for success."""

    failure: Failure | None = None


def _machine_id(state: State, request: Request) -> ResourceId:
    return found_pool(state, request).id.child(TYPE, request.params["machine"])


def _found(state: State, id_: ResourceId) -> Document:
    entry = state.store.get(id_)
    if entry is None:
        raise refuse("MachineNotFound", machine=id_.name, pool=id_.names[-2])
    return entry.document


def _put(state: State, request: Request) -> Response:
    header = request.header(BATCH_HEADER)
    if header is not None:
        return _put_batch(state, request, header)
    id_ = _machine_id(state, request)
    old = state.store.get(id_)
    etag = old.document["properties"]["eTag"] if old is not None else None
    check_etag(request, old.document if old is not None else None, etag=etag, row="ConditionNotMet")
    operation = _create_or_update(state, request, id_, body_of(request))
    return state.operations.accepted(
        201 if old is None else 200, operation, request.api_version, state.found(id_).document
    )


def _create_or_update(state: State, request: Request, id_: ResourceId, body: Mapping[str, Any]) -> Operation:
    if len(id_.name) > MAX_NAME:
        raise refuse(
            "InvalidRequestContent", reason=f"the machine name '{id_.name}' has more than {MAX_NAME} characters"
        )
    subject = _subject(id_, body)
    fault = state.market.faults.take(subject, state.now(), at_end=False)
    if fault is not None:
        raise ArmError(fault.failure(subject, id=id_, subscription=id_.subscription))
    if state.store.get(id_) is not None:
        return _update(state, id_, body)
    return _create(state, request, id_, body)


def _subject(id_: ResourceId, body: Mapping[str, Any]) -> Subject:
    """The facts by which faults of machines are picked; faults of VM creations hit the VM behind it as well."""
    properties = section(body, "properties")
    return Subject(
        "PUT",
        TYPE,
        name=id_.name,
        size=text(section(properties, "hardware"), "vmSize"),
        zone=next(iter(texts(body, "zones")), ""),
        priority=text(properties, "priority", "Regular"),
    )


def _update(state: State, id_: ResourceId, body: Mapping[str, Any]) -> Operation:
    """A PUT on an existing machine: only its tags may change."""
    deletion.check_use(state.found(id_), "Update Machine")
    document = state.found(id_).document
    properties, wanted = document["properties"], section(body, "properties")
    for name, before, after in (
        ("zones", list(document.get("zones") or ()), body.get("zones")),
        ("vmSize", properties["hardware"]["vmSize"], section(wanted, "hardware").get("vmSize")),
        ("priority", properties.get("priority", "Regular"), wanted.get("priority")),
    ):
        if after is not None and after != before:
            raise refuse("MachineChangeNotAllowed", target=name, property=name)
    _set(state, id_, tags=pairs(wanted, "tags"), eTag=state.guids())
    return state.begin(Subject("PUT", TYPE, id_.name), id_, location=_location(state, id_), seconds=0, finish=no_effect)


def _create(state: State, request: Request, id_: ResourceId, body: Mapping[str, Any]) -> Operation:
    cluster = found_cluster(state, request).document
    location = cluster["location"]
    properties = section(body, "properties")
    size = _size(state, id_, text(section(properties, "hardware"), "vmSize"), location)
    spot_system = properties.get("priority") == "Spot" and properties.get("mode") == "System"
    if spot_system and (request.header(SPOT_SYSTEM_HEADER) or "").lower() != "true":
        raise refuse("SpotSystemMachine", target="properties.mode", machine=id_.name)
    vm = machine_launch.vm_of(state, id_, cluster["properties"]["nodeResourceGroup"])
    own = {key: value for key, value in properties.items() if key != "priority"}
    if properties.get("priority") == "Spot":
        own["priority"] = "Spot"
    document: dict[str, Any] = {
        "id": str(id_),
        "name": id_.name,
        "type": f"{NAMESPACE}/managedClusters/agentPools/machines",
        "properties": {
            **own,
            "provisioningState": "Creating",
            "resourceId": str(vm),
            "eTag": state.guids(),
            "status": {"creationTimestamp": timestamp(state.now()), "driftAction": "Synced", "vmState": "Creating"},
        },
    }
    if zones := texts(body, "zones"):
        document["zones"] = list(zones)
    state.store.put(id_, document)
    return _launch(state, id_, body, cluster, size)


def _launch(
    state: State, id_: ResourceId, body: Mapping[str, Any], cluster: Mapping[str, Any], size: Size
) -> Operation:
    """Start the VM of a machine that is there; its fate ends the operation."""
    document = state.found(id_).document
    outcome = Outcome()
    subject = _subject(id_, body)
    fault = state.market.faults.take(subject, state.now(), at_end=True)
    launched: Failure | bool
    try:
        if fault is not None:  # AKS itself fails: there is no VM
            stuck = fault.what == STUCK
            launched = False if stuck else fault.failure(subject, id=id_, subscription=id_.subscription)
        else:
            launched = machine_launch.launch(state, id_, document, cluster, size, partial(note, outcome))
    except ArmError:  # the body itself is wrong: nothing was made of it
        state.store.remove(id_)
        raise
    if isinstance(launched, Failure):
        outcome.failure = launched
    return state.operations.start(
        f"PUT {TYPE}",
        subscription=id_.subscription,
        namespace=NAMESPACE,
        location=cluster["location"],
        seconds=None if launched is False else state.timing.vm_create + state.timing.machine_create,
        finish=partial(settle, state, id_, outcome),
    )


def note(outcome: Outcome, failure: Failure | None) -> None:
    """Keep what became of the VM behind a machine until the machine's own operation ends."""
    outcome.failure = failure


def settle(state: State, id_: ResourceId, outcome: Outcome) -> Failure | None:
    """Finish the creation of a machine: it is what its VM became."""
    entry = state.store.get(id_)
    if entry is None:
        return None
    if deletion.marked(entry.document):
        return outcome.failure
    if outcome.failure is None:
        _set(state, id_, provisioningState="Succeeded")
        _status(state, id_, vmState="Running")
    else:
        _fail(state, id_, outcome.failure)
    return outcome.failure


def _size(state: State, id_: ResourceId, name: str, location: str) -> Size:
    size = state.market.size(name, location)
    if size is None or size.restricted_everywhere:
        raise refuse("VMSizeNotSupported", size=name, subscription=id_.subscription, location=location)
    return size


def _set(state: State, id_: ResourceId, **properties: Any) -> None:
    document = state.found(id_).document
    state.store.put(id_, {**document, "properties": {**document["properties"], **properties}})


def _status(state: State, id_: ResourceId, **status: Any) -> None:
    _set(state, id_, status={**state.found(id_).document["properties"]["status"], **status})


def _fail(state: State, id_: ResourceId, result: Failure) -> None:
    _set(state, id_, provisioningState="Failed")
    _status(state, id_, provisioningError=machine_launch.provisioning_error(result))


def _location(state: State, id_: ResourceId) -> str:
    pool = id_.parent
    cluster = pool.parent if pool is not None else None
    return str(state.found(cluster).document["location"]) if cluster is not None else ""


def drift(state: State, id_: ResourceId, reason: str) -> None:
    """Let AKS ask for the machine to be recreated, as it does when the cluster's configuration moves on."""
    _found(state, id_)
    _status(state, id_, driftAction="Recreate", driftReason=reason)


def _put_batch(state: State, request: Request, header: str) -> Response:
    """Many machines from one template: zones and tags from the header, everything else from the body.

    Machines that are refused are named in a flat body; those that are not named were accepted.
    """
    body = body_of(request)
    pool = found_pool(state, request)
    entries = _batch(header)
    refused: list[Failure] = []
    first: tuple[Operation, ResourceId] | None = None
    for entry in entries:
        id_ = pool.id.child(TYPE, text(entry, "machineName"))
        single = {
            **body,
            "zones": list(texts(entry, "zones")),
            "properties": {**section(body, "properties"), "tags": pairs(entry, "tags")},
        }
        try:
            check_machine(id_.name)
            operation = _create_or_update(state, request, id_, single)
        except ArmError as error:
            inner = error.failure
            refused.append(Failure(inner.code, inner.message, inner.status, target=id_.name))
            continue
        first = first or (operation, id_)
    if refused:
        raise ArmError(_batch_failure(refused))
    if first is None:
        raise refuse("InvalidRequestContent", reason=f"the header {BATCH_HEADER} names no machine")
    return state.operations.accepted(201, first[0], request.api_version, state.found(first[1]).document)


def _batch(header: str) -> Sequence[Mapping[str, Any]]:
    try:
        entries = json.loads(header)["batchMachines"]
    except (ValueError, KeyError, TypeError):
        raise refuse("InvalidRequestContent", reason=f"the header {BATCH_HEADER} is not understood") from None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise refuse("InvalidRequestContent", reason=f"the header {BATCH_HEADER} must list machines")
    return entries


def _batch_failure(refused: Sequence[Failure]) -> Failure:
    """400 with the details beside the code; 500 with the details as JSON text in the message if all are internal."""
    if any(not item.code.startswith("Internal") for item in refused):
        return Failure("BatchMachineClientError", "batch client error", 400, details=tuple(refused), flat=True)
    message = json.dumps({"details": [item.document() for item in refused]})
    return Failure("BatchMachineInternalServerError", message, 500, flat=True)


def _get(state: State, request: Request) -> Response:
    id_ = _machine_id(state, request)
    for instance in pool_scale_sets.machines(state, found_pool(state, request).id):
        if instance["id"].lower() == id_.key:
            return Response(200, body=instance)
    return Response(200, body=_found(state, id_))


def _list(state: State, request: Request) -> Response:
    pool = found_pool(state, request)
    items = [entry.document for entry in state.store.children(pool.id, TYPE)] + pool_scale_sets.machines(state, pool.id)
    return page(request, items, size=state.settings.page_size, base_url=state.settings.base_url)


def _delete(state: State, request: Request) -> Response:
    pool = found_pool(state, request)
    names = texts(body_of(request), "machineNames")
    if not names:
        raise refuse("InvalidRequestContent", reason="'machineNames' must list machines", target="machineNames")
    ids = [pool.id.child(TYPE, name) for name in names]
    present = [id_ for id_ in ids if state.store.get(id_) is not None]
    if not present:
        raise ArmError(failure("NoValidMachines", target="machineNames"))
    for id_ in present:
        deletion.mark(state, id_)
        vm = ResourceId.parse(state.found(id_).document["properties"]["resourceId"])
        if vm.key in state.vms:
            vm_lifecycle.delete(state, vm)

    operation = state.begin(
        Subject("POST", "deleteMachines", pool.id.name),
        pool.id,
        location=_location(state, present[0]),
        seconds=state.timing.vm_delete + state.timing.machine_delete,
        finish=partial(forget, state, tuple(present)),
        failed=partial(deletion.failed, state, tuple(present)),
    )
    return state.operations.accepted(202, operation, request.api_version)


def forget(state: State, ids: tuple[ResourceId, ...]) -> None:
    """Finish the deletion of machines, whose VMs go by operations of their own."""
    for id_ in ids:
        entry = state.store.get(id_)
        if entry is not None and deletion.marked(entry.document):
            state.store.remove(id_)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", f"{POOL}/machines/{{machine}}", _put)
    yield Route("GET", f"{POOL}/machines/{{machine}}", _get)
    yield Route("GET", f"{POOL}/machines", _list)
    yield Route("POST", f"{POOL}/deleteMachines", _delete)
