"""Pods of a machine that stops: marked not ready when its Node is Unknown, driven out five minutes later."""

from __future__ import annotations

import pytest

from harness.kube.api.objects import Object, condition, condition_is, name_of
from harness.testing import node, nodeclass, nodepool, pod
from harness.world import World


@pytest.fixture
def world() -> World:
    made = World()
    made.apply(nodeclass(), nodepool(), pod("web"))
    made.settle()
    return made


def own_node(world: World) -> Object:
    (machine,) = (node for node in world.list("Node") if "providerID" in node["spec"])
    return machine


def stop(world: World) -> str:
    machine = own_node(world)
    vm_id = machine["spec"]["providerID"].removeprefix("azure://")
    world.cloud.request("POST", f"{vm_id}/powerOff", query={"api-version": "2025-04-01"})
    return name_of(machine)


def told(world: World) -> list[tuple[str, str, str]]:
    events = [event for event in world.events if event.reason == "NodeNotReady"]
    return [(event.object.kind, event.object.name, event.message) for event in events]


def test_they_are_marked_when_their_node_is_silent(world: World) -> None:
    before = condition(world.get("Pod", "web") or {}, "Ready") or {}
    name = stop(world)
    world.advance(30)
    assert condition(world.get("Pod", "web") or {}, "Ready") == before
    world.advance(30)
    after = condition(world.get("Pod", "web") or {}, "Ready") or {}
    assert after["status"] == "False"
    assert after["lastTransitionTime"] > before["lastTransitionTime"]
    assert told(world) == [
        ("Node", name, f"Node {name} status is now: NodeNotReady"),
        ("Pod", "web", "Node is not ready"),
    ]


@pytest.mark.parametrize(("kubernetes", "seconds"), [("1.31.9", 40), ("1.32.0", 50)])
def test_a_node_is_silent_for_as_long_as_its_control_plane_waits(kubernetes: str, seconds: int) -> None:
    """--node-monitor-grace-period, of whose default kubernetes/kubernetes#126287 made 50 s."""
    world = World(kubernetes=kubernetes)
    world.apply(nodeclass(), nodepool(), pod("web"))
    world.settle()
    stop(world)
    world.advance(seconds - 1)
    assert condition_is(own_node(world), "Ready")
    world.advance(20)
    assert (condition(own_node(world), "Ready") or {})["status"] == "Unknown"


def test_they_go_when_they_are_no_longer_tolerated(world: World) -> None:
    world.apply(node("system", taints=[{"key": "CriticalAddonsOnly", "effect": "NoSchedule"}]))
    stop(world)
    world.advance(60)
    world.advance(260)
    assert "deletionTimestamp" not in (world.get("Pod", "web") or {})["metadata"]
    world.advance(60)
    assert "deletionTimestamp" in (world.get("Pod", "web") or {})["metadata"]


def test_they_stay_while_no_node_at_all_is_ready(world: World) -> None:
    """It is the control plane that may be cut off (node_lifecycle_controller.go, handleDisruption)."""
    stop(world)
    world.advance(3600)
    assert "deletionTimestamp" not in (world.get("Pod", "web") or {})["metadata"]


def test_a_kubelet_that_is_not_ready_marks_nothing(world: World) -> None:
    machine = own_node(world)
    others = [each for each in machine["status"]["conditions"] if each["type"] != "Ready"]
    ready = {**(condition(machine, "Ready") or {}), "status": "False"}
    world.report(machine, {"status": {"conditions": [*others, ready]}})
    world.advance(60)
    assert condition_is(world.get("Pod", "web") or {}, "Ready")
    assert told(world) == []
