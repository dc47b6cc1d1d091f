"""What becomes of pods that stand in the way of a drain: tries with growing pauses, and the node's deadline."""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND, parse, render
from harness.engine.ports import ADMIN
from harness.karpenter.lifecycle.nodes.drain import is_drainable, tiers
from harness.kube.api.objects import Object, name_of
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL

RELEASES = ("1.7.2", "1.14.0", "next")


def draining(release: str, *objects: Object, patience: str | None = None) -> tuple[World, float]:
    """A world whose only node has just been told to go, and when that was."""
    pool = nodepool(SMALL)
    if patience is not None:
        pool["spec"]["template"]["spec"]["terminationGracePeriod"] = patience
    world = World(karpenter=release)
    world.apply(nodeclass(), pool, *objects)
    world.settle()
    (claim,) = world.list("NodeClaim")
    world.delete("NodeClaim", claim["metadata"]["name"])
    return world, world.clock.seconds


def waited(world: World, name: str, since: float) -> float:
    """Seconds until the pod began to go."""
    for entry in world.journal:
        gone = (entry.after or {}).get("metadata", {}).get("deletionTimestamp")
        if (entry.key.kind, entry.key.name) == ("Pod", name) and entry.error is None and (gone or entry.after is None):
            return round(entry.at / SECOND - since, 1)
    raise AssertionError(f"{name} is still there")


@pytest.mark.parametrize("release", RELEASES)
def test_a_spent_budget_is_asked_again_with_growing_pauses(release: str) -> None:
    """0.1 s, doubled up to 10 s (terminator/eviction.go evictionQueueBaseDelay, evictionQueueMaxDelay)."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "x"}}},
    }
    blocked = pod("p1")
    blocked["metadata"]["labels"] = {"app": "x"}
    world, start = draining(release, blocked, budget)
    world.advance(4)
    world.delete("PodDisruptionBudget", "b")
    world.advance(10)
    assert waited(world, "p1", start) == 6.3  # after 0.1, 0.2, 0.4, 0.8, 1.6 and 3.2 s


def protected(name: str) -> Object:
    found = pod(name)
    found["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    found["spec"]["terminationGracePeriodSeconds"] = 30
    return found


@pytest.mark.parametrize(
    ("release", "seconds", "granted"), [("1.7.2", 70.0, 29), ("1.14.0", 70.0, 29), ("next", 72.7, 26)]
)
def test_a_protected_pod_goes_in_time_for_the_deadline(release: str, seconds: float, granted: int) -> None:
    """The drain looks every second; since core 1.15.0 the queue at its next try, 12.7 s and six times 10 s after the first one."""
    world, start = draining(release, protected("p1"), patience="100s")
    world.settle()
    assert waited(world, "p1", start) == pytest.approx(seconds, abs=1.0)
    (told,) = [each.message for each in world.events if each.reason == "Disrupted" and each.object.kind == "Pod"]
    assert f"was granted {granted} seconds of grace-period of its 30 terminationGracePeriodSeconds" in told
    assert world.list("Node") == world.list("NodeClaim") == []


@pytest.mark.parametrize(("release", "at_once"), [("1.14.0", False), ("next", True)])
def test_a_pod_that_takes_its_time_is_cut_short(release: str, at_once: bool) -> None:
    """Somebody gives a pod more time than its node has left: since core 1.15.0 that ends at the drain's first look."""
    world, _ = draining(release, protected("p1"), patience="100s")
    world.advance(1)
    world.cluster.writer(ADMIN).delete("Pod", "p1", namespace="default", grace_period_seconds=300)
    world.advance(0.9)
    cut = [each for each in world.events if each.reason == "Disrupted" and each.object.kind == "Pod"]
    assert bool(cut) is at_once
    if at_once:
        assert "was granted 98 seconds of grace-period of its 30 terminationGracePeriodSeconds" in cut[0].message
    world.settle()
    assert world.list("Node") == []


def test_a_pod_that_is_stuck_for_more_than_a_minute_holds_no_drain_up() -> None:
    """Core pkg/utils/pod/scheduling.go IsStuckTerminating: more than a minute after the end of its grace period."""
    end = parse("2026-01-07T10:30:00Z")
    going = {**pod("p"), "metadata": {"name": "p", "deletionTimestamp": render(end)}}
    assert [is_drainable(going, end + each) for each in (0, 60 * SECOND, 60 * SECOND + 1)] == [True, True, False]


def test_pods_go_in_four_tiers() -> None:
    """Others, DaemonSets', critical ones, DaemonSets' critical ones (terminator.go groupPodsByPriority)."""

    def of(name: str, critical: str | None, daemon: bool) -> Object:
        made = pod(name)
        if critical is not None:
            made["spec"]["priorityClassName"] = critical
        if daemon:
            made["metadata"]["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"}
            ]
        return made

    pods = [
        of("a", "system-node-critical", True),
        of("b", "system-cluster-critical", False),
        of("c", None, True),
        of("d", "high", False),
        of("e", None, False),
    ]
    assert [[name_of(each) for each in tier] for tier in tiers(pods)] == [["d", "e"], ["c"], ["b"], ["a"]]
