"""Upgrades of scale sets: instances brought to the set's model, and rolling upgrades of their systems."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.compute.scale_set_instances import chosen, instances
from fakeazure.resources.compute.scale_sets import SETS
from fakeazure.state import State
from fakeazure.timers import timestamp

_ONE = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{SETS.type}/{{name}}"


def _manual(state: State, request: Request) -> Response:
    """Bring instances to the model of their set; those of a flexible set are machines of their own."""
    id_ = SETS.id_of(state, request)
    wanted = tuple(instance.id for instance in chosen(state, request, id_))
    return state.act(request, id_, state.timing.vm_update, finish=partial(upgrade, state, wanted))


def upgrade(state: State, wanted: tuple[ResourceId, ...]) -> None:
    """Finish an upgrade of instances: those that are there have the latest model."""
    for id_ in wanted:
        entry = state.store.get(id_)
        if entry is not None and id_.key in state.instances:
            properties = {**entry.document["properties"], "latestModelApplied": True}
            state.store.put(id_, {**entry.document, "properties": properties})


def _begin_rolling(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    now, count = timestamp(state.now()), len(instances(state, entry.id))
    id_ = entry.id.child("rollingUpgrades", "latest")
    properties: dict[str, Any] = {
        "policy": {"maxBatchInstancePercent": 20, "maxUnhealthyInstancePercent": 20, "pauseTimeBetweenBatches": "PT0S"},
        "runningStatus": {"code": "RollingForward", "startTime": now, "lastAction": "Start", "lastActionTime": now},
        "progress": {"successfulInstanceCount": 0, "failedInstanceCount": 0, "inProgressInstanceCount": count},
    }
    properties["progress"]["pendingInstanceCount"] = 0
    document = {"id": str(id_), "name": "latest", "type": id_.type, "location": entry.document["location"]}
    state.store.put(id_, {**document, "properties": properties})
    return state.act(request, entry.id, state.timing.vm_update, finish=partial(roll, state, id_))


def roll(state: State, id_: ResourceId) -> None:
    """Finish a rolling upgrade, if it was not cancelled and its set is still there."""
    entry = state.store.get(id_)
    if entry is None or entry.document["properties"]["runningStatus"]["code"] != "RollingForward":
        return
    _end(state, id_, "Completed")


def _end(state: State, id_: ResourceId, code: str) -> None:
    document = state.found(id_).document
    properties = document["properties"]
    status = {**properties["runningStatus"], "code": code, "lastActionTime": timestamp(state.now())}
    progress = dict(properties["progress"])
    progress["successfulInstanceCount"] += progress["inProgressInstanceCount"] if code == "Completed" else 0
    progress["inProgressInstanceCount"] = 0
    state.store.put(id_, {**document, "properties": {**properties, "runningStatus": status, "progress": progress}})


def _latest(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    latest = state.store.get(entry.id.child("rollingUpgrades", "latest"))
    if latest is None:
        raise refuse("RollingUpgradeNotFound", name=entry.id.name)
    return Response(200, body=latest.document)


def _cancel(state: State, request: Request) -> Response:
    entry = state.found(SETS.id_of(state, request))
    id_ = entry.id.child("rollingUpgrades", "latest")
    latest = state.store.get(id_)
    if latest is None or latest.document["properties"]["runningStatus"]["code"] != "RollingForward":
        raise refuse("RollingUpgradeNotFound", name=entry.id.name)
    _end(state, id_, "Cancelled")
    return state.act(request, entry.id, state.timing.vm_update)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", f"{_ONE}/manualupgrade", _manual)
    yield Route("POST", f"{_ONE}/osRollingUpgrade", _begin_rolling)
    yield Route("GET", f"{_ONE}/rollingUpgrades/latest", _latest)
    yield Route("POST", f"{_ONE}/rollingUpgrades/cancel", _cancel)
