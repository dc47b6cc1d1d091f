"""The real controller under load and faults. Whatever happens, nothing is left over: as many machines as NodeClaims, no pod forgotten."""

from __future__ import annotations

import pytest

from harness.kube.api.objects import condition_is, name_of

from .conftest import NewWorld
from .situations import NODECLASS, POOL, SITUATIONS, Situation, measured, pods, settled, wait_until


@pytest.mark.parametrize(
    "situation",
    [pytest.param(each, marks=pytest.mark.smoke if each.smoke else ()) for each in SITUATIONS if each.count <= 30],
    ids=str,
)
def test_nothing_is_left_over(real_world: NewWorld, situation: Situation) -> None:
    with real_world(**situation.inputs) as world:
        found = measured(world, situation)
    assert found.bound == situation.count
    assert (found.nodeclaims, found.nodes, found.machines, found.interfaces) == (situation.count,) * 4
    assert found.left_over == 0


def test_a_controller_that_elects_a_leader_works(real_world: NewWorld) -> None:
    world = real_world(elects=True)
    world.apply(NODECLASS, POOL, pods(1))
    settled(world, 1)
    leases = {name_of(each) for each in world.list("Lease", namespace="kube-system")}
    assert leases == {"karpenter-leader-election"}


def test_its_log_tells_of_a_node_that_goes(real_world: NewWorld) -> None:
    """`real-disruptions.jsonl` are such lines of replacements, drift and a failure, too."""
    world = real_world()
    disruption = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"}
    world.apply(NODECLASS, {**POOL, "spec": {**POOL["spec"], "disruption": disruption}}, pods(1))
    settled(world, 1)
    wait_until(world, lambda: all(condition_is(each, "Initialized") for each in world.list("NodeClaim")))
    (claim,) = world.list("NodeClaim")
    world.apply(pods(0))
    wait_until(world, lambda: not world.list("NodeClaim"))
    (found,) = world.disruptions
    assert (found.decision, found.reason, found.savings) == ("delete", "Empty", 0.1)
    assert [(node.nodeclaim, node.node) for node in found.nodes] == [(name_of(claim), f"aks-{name_of(claim)}")]
    assert found.ended is not None
    assert found.ended >= found.at


@pytest.mark.parametrize("what", ["TooManyRequests", "InternalServerError"])
def test_a_storm_is_seen(real_world: NewWorld, what: str) -> None:
    (situation,) = (each for each in SITUATIONS if each.refusal == what)
    world = real_world(**situation.inputs)
    measured(world, situation)
    assert any(call.code == what for call in world.cloud.journal)
