"""An AKSNodeClass for which nothing is left to write is still looked at: what changes in Azure or in it is written."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.kube.api.objects import condition
from harness.testing import nodeclass, nodepool
from harness.world import World

VERSION = {"api-version": "2022-01-01"}
REFRESH = 181.0


def _condition(world: World, kind: str) -> tuple[str, str]:
    found = world.get("AKSNodeClass", "default")
    assert found is not None
    (one,) = [each for each in found["status"]["conditions"] if each["type"] == kind]
    return one["status"], one["reason"]


def _resting() -> tuple[World, str]:
    world = World(karpenter="1.14.0")
    world.apply(nodeclass())
    world.settle()
    world.advance(2 * REFRESH)
    assert _condition(world, "Ready") == ("True", "Ready")
    (asked,) = {call.path for call in world.cloud.journal if call.resource == "subnets"}
    return world, asked


def _asked(world: World) -> int:
    return sum(call.resource == "subnets" and call.method == "GET" for call in world.cloud.journal)


def test_nothing_is_written_but_azure_is_asked_each_time() -> None:
    world, _ = _resting()
    revision, asked = world.revision, _asked(world)
    world.advance(5 * REFRESH)
    assert world.revision == revision
    assert _asked(world) == asked + 5


def test_a_subnet_that_goes_and_comes_back() -> None:
    world, path = _resting()
    assert world.cloud.request("DELETE", path, query=VERSION).status in (200, 202, 204)
    world.advance(REFRESH)
    assert _condition(world, "SubnetsReady") == ("False", "SubnetNotFound")
    body: dict[str, Any] = {"properties": {"addressPrefix": "10.224.0.0/16"}}
    assert world.cloud.request("PUT", path, query=VERSION, body=body).status in (200, 201)
    world.advance(2 * REFRESH)
    assert _condition(world, "SubnetsReady") == ("True", "SubnetsReady")


def test_a_nodepool_follows_its_nodeclass() -> None:
    """What its condition says, one after the other, from before the NodeClass is there until after its subnet has gone."""
    world = World(karpenter="1.14.0")
    world.apply(nodepool())
    world.settle()
    world.apply(nodeclass())
    world.settle()
    (path,) = {call.path for call in world.cloud.journal if call.resource == "subnets"}
    world.cloud.request("DELETE", path, query=VERSION)
    world.advance(2 * REFRESH)
    told = [condition(change.object, "NodeClassReady") for change in world.view.changes(0, "NodePool")]
    said = [(each["status"], each["reason"], each["message"]) for each in told if each is not None]
    of_class = condition(world.list("AKSNodeClass")[0], "Ready")
    assert of_class is not None
    assert [key for key, _ in groupby(said) if key[0] != "Unknown"] == [
        ("False", "NodeClassNotFound", "NodeClass not found on cluster"),
        ("True", "NodeClassReady", ""),
        ("False", of_class["reason"], of_class["message"]),
    ]
    assert of_class["reason"]


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ([], "NodeClassReadinessUnknown"),
        ([{"type": "Ready", "status": "Unknown", "reason": "Why", "message": "so"}], "NodeClassReadinessUnknown"),
        ([{"type": "Ready", "status": "False", "reason": "Why", "message": "so"}], "Why"),
    ],
)
def test_a_nodeclass_that_does_not_say_whether_it_is_ready_is_not(
    conditions: list[dict[str, str]], reason: str
) -> None:
    world = World(karpenter="1.14.0")
    world.apply(nodeclass(), nodepool())
    world.settle()
    status = {"status": {"conditions": [{**each, "lastTransitionTime": "2026-01-01T00:00:00Z"} for each in conditions]}}
    world.cluster.writer(ADMIN).patch("AKSNodeClass", "default", status, subresource="status")
    (pools,) = (each for each in world.karpenter.controllers if each.name == "nodepool")
    pools.reconcile("default")
    found = condition(world.list("NodePool")[0], "NodeClassReady")
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", reason)


def _status(world: World) -> Any:
    found = world.get("AKSNodeClass", "default")
    assert found is not None
    return found["status"]


def test_another_image_family_is_resolved() -> None:
    world, _ = _resting()
    before = _status(world)["images"]
    world.apply(nodeclass(imageFamily="AzureLinux"))
    world.settle()
    assert _status(world)["images"] != before


def test_another_version_of_kubernetes_is_written() -> None:
    world, _ = _resting()
    before = _status(world)["kubernetesVersion"]
    world.upgrade_kubernetes("1.36.0")
    world.advance(16 * 60)
    assert before != "1.36.0" == _status(world)["kubernetesVersion"]
