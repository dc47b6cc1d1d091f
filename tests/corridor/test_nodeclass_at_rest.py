"""An AKSNodeClass for which nothing is left to write is still looked at: what changes in Azure or in it is written."""

from __future__ import annotations

from typing import Any

from harness.testing import nodeclass
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
