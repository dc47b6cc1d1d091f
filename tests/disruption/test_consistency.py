"""ConsistentStateFound: ten minutes after a machine is there, and every ten minutes from then on."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.kube.api.objects import condition, name_of
from harness.testing import deployment, nodeclass, nodepool
from harness.world import World

PERIOD = 600.0
SAID = "expected 3972844748 of resource memory, but found 2Gi (54.1% of expected)"


def grown(**inputs: Any) -> World:
    world = World(**inputs)
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    return world


def found(world: World) -> tuple[str, str] | None:
    (claim,) = world.list("NodeClaim")
    one = condition(claim, "ConsistentStateFound")
    return (one["status"], one["reason"]) if one is not None else None


def shrink(world: World, memory: str | None) -> None:
    (node,) = world.list("Node")
    patch = {"status": {"capacity": {"memory": memory}}}
    world.ports.writer(ADMIN).patch("Node", name_of(node), patch, subresource="status")


def until_second_look(world: World) -> float:
    """Seconds until ten minutes after the first look, which comes with the machine."""
    (line,) = (line for line in world.log if line.message == "launched nodeclaim")
    return line.at + PERIOD - world.clock.seconds


def test_a_node_that_has_what_is_expected() -> None:
    world = grown()
    world.advance(until_second_look(world) - 1)
    assert found(world) is None
    world.advance(2)
    assert found(world) == ("True", "ConsistentStateFound")


def test_a_node_that_is_too_small() -> None:
    world = grown()
    shrink(world, "2Gi")
    world.advance(until_second_look(world) + 1)
    assert found(world) == ("False", "ConsistencyCheckFailed")
    told = [
        (event.object.kind, event.type, event.message)
        for event in world.events
        if event.reason == "FailedConsistencyCheck"
    ]
    assert told == [("NodeClaim", "Warning", SAID)]
    world.advance(PERIOD)
    assert [event.message for event in world.events if event.reason == "FailedConsistencyCheck"] == [SAID, SAID]
    shrink(world, "8Gi")
    world.advance(PERIOD)
    assert found(world) == ("True", "ConsistentStateFound")


def test_a_node_that_lacks_a_resource_altogether() -> None:
    world = grown()
    shrink(world, None)
    world.advance(until_second_look(world) + 1)
    told = [event.message for event in world.events if event.reason == "FailedConsistencyCheck"]
    assert told == ["expected 3972844748 of resource memory, but found 0 (0.0% of expected)"]


def test_looks_keep_their_times_where_nothing_was_to_be_seen() -> None:
    """Upstream looks every ten minutes; here a look that would find nothing is passed over, and the next one comes when it would there."""
    world = grown()
    second = until_second_look(world)
    world.advance(second + 3.25 * PERIOD)
    shrink(world, "2Gi")
    world.advance(0.75 * PERIOD - 2)
    assert found(world) == ("True", "ConsistentStateFound")
    world.advance(4)
    assert found(world) == ("False", "ConsistencyCheckFailed")


def test_a_restart_forgets_when_it_looked() -> None:
    world = grown()
    world.advance(60)
    assert found(world) is None
    world.restart_karpenter()
    world.advance(1)
    assert found(world) == ("True", "ConsistentStateFound")


@pytest.mark.parametrize(
    ("release", "level", "message", "key"),
    [
        ("1.14.0", "info", "failed consistency check", "issue"),
        ("1.10.2", "info", "failed consistency check", "issue"),
        ("1.7.2", "error", "consistency error", "error"),
    ],
)
def test_the_log(release: str, level: str, message: str, key: str) -> None:
    world = grown(karpenter=release)
    shrink(world, "2Gi")
    world.advance(until_second_look(world) + 1)
    (line,) = (line for line in world.log if line.controller == "nodeclaim.consistency")
    assert (line.level, line.message, line.values[key]) == (level, message, SAID)
