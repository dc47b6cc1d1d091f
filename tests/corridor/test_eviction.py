"""Azure takes a spot VM: its Node shows the notice, and is gone later."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.kube.api.objects import condition_is
from harness.world import World

SCENARIO = Path(__file__).parents[2] / "scenarios" / "lifecycle" / "spot-eviction.yaml"


def of_kind(kind: str) -> World:
    """A world with one Node of this capacity type."""
    first = SCENARIO.read_text().split("\n---\n", 1)[1].split("\n---\nscenario:", 1)[0]
    world = World()
    world.apply(first.replace("[spot]", f"[{kind}]"))
    world.settle()
    return world


def test_the_node_shows_the_notice_and_goes() -> None:
    world = of_kind("spot")
    (node,) = (each["metadata"]["name"] for each in world.list("Node"))
    world.evict(node)
    assert not condition_is(world.get("Node", node) or {}, "PreemptionScheduled")
    world.advance(2)
    assert condition_is(world.get("Node", node) or {}, "PreemptionScheduled")
    world.advance(29)
    assert [vm.name for vm in world.vms()] == []
    world.advance(50)
    assert world.get("Node", node) is None


def test_only_spot_vms_are_taken_and_only_of_nodes_that_are_there() -> None:
    world = of_kind("on-demand")
    (node,) = (each["metadata"]["name"] for each in world.list("Node"))
    with pytest.raises(ValueError, match="only a spot VM can be evicted"):
        world.evict(node)
    with pytest.raises(LookupError, match="there is no machine of Node 'nobody'"):
        world.evict("nobody")
