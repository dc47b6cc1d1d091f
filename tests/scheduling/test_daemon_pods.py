"""Karpenter looks at the pods of a DaemonSet when it comes, and every minute from then on."""

from __future__ import annotations

from typing import Any

from harness.engine.clock import SECOND, Clock
from harness.engine.ports import Change, ChangeType
from harness.karpenter.scheduling.pods.daemons import DaemonPods
from harness.testing import daemonset, nodeclass, nodepool, pod, requirement
from harness.world import World

KEY = ("default", "u")
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}


def at(clock: Clock, seconds: float) -> None:
    clock.advance_to(int(seconds * SECOND))


def set_of_pods() -> dict[str, Any]:
    return {"kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default", "uid": "u"}}


def made(name: str, created: int = 0, **metadata: Any) -> dict[str, Any]:
    time = f"2026-01-01T00:00:{created:02d}Z"
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "creationTimestamp": time,
            "ownerReferences": [OWNER],
            **metadata,
        },
    }


def heard(pods: DaemonPods, obj: dict[str, Any], how: ChangeType = ChangeType.ADDED) -> None:
    pods.hear(Change(how, obj, None, 1))


def test_a_pod_is_seen_at_the_next_look() -> None:
    clock = Clock()
    pods = DaemonPods(clock)
    heard(pods, set_of_pods())
    first, second = made("a"), made("b", 50)
    at(clock, 41)
    heard(pods, first)
    assert (pods.known(), pods.edition()) == ({}, 0)
    at(clock, 60)
    assert (pods.known(), pods.edition()) == ({KEY: first}, 1)
    heard(pods, second)
    at(clock, 119)
    assert pods.known() == {KEY: first}
    at(clock, 120)
    assert pods.known() == {KEY: second}


def test_a_late_look_sees_what_was_there_then() -> None:
    clock = Clock()
    pods = DaemonPods(clock)
    heard(pods, set_of_pods())
    first, second = made("a"), made("b", 50)
    at(clock, 41)
    heard(pods, first)
    at(clock, 70)
    heard(pods, second)
    at(clock, 80)
    assert pods.known() == {KEY: first}


def test_a_pod_that_is_gone_speaks_until_another_is_seen_or_the_daemonset_goes() -> None:
    clock = Clock()
    pods = DaemonPods(clock)
    heard(pods, set_of_pods())
    first = made("a")
    at(clock, 1)
    heard(pods, first)
    at(clock, 61)
    heard(pods, first, ChangeType.DELETED)
    at(clock, 600)
    assert pods.known() == {KEY: first}
    heard(pods, set_of_pods(), ChangeType.DELETED)
    assert pods.known() == {}


def test_a_karpenter_that_starts_sees_the_pods_that_are_there() -> None:
    """It hears of pods before it hears of their DaemonSet, and of strangers' not at all."""
    clock = Clock()
    pods = DaemonPods(clock)
    first = made("a")
    heard(pods, first)
    heard(pods, made("c", ownerReferences=[{**OWNER, "kind": "ReplicaSet"}]))
    heard(pods, set_of_pods())
    assert pods.known() == {KEY: first}
    later = made("b", 9)
    heard(pods, later)
    assert pods.known() == {KEY: first}
    pods.look()
    assert pods.known() == {KEY: later}


def launched(world: World) -> list[str]:
    """The sizes of all NodeClaims, oldest first."""
    key = "node.kubernetes.io/instance-type"
    claims = sorted(world.list("NodeClaim"), key=lambda claim: claim["metadata"]["creationTimestamp"])
    return [claim["metadata"]["labels"][key] for claim in claims]


def test_what_admission_adds_counts_a_minute_later() -> None:
    """Each pod of the agent asks for a CPU by the LimitRange; its template asks for none."""
    sizes = ("Standard_D2s_v5", "Standard_D4s_v5")
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "defaults", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
    }
    agent = daemonset("agent")
    for container in agent["spec"]["template"]["spec"]["containers"]:
        container.pop("resources", None)
    world = World()
    pool = nodepool(requirement("node.kubernetes.io/instance-type", *sizes))
    world.apply(nodeclass(), pool, limits, agent, pod("a", cpu="1500m"))
    world.advance(45)
    world.apply(pod("b", cpu="1500m"))
    world.advance(5)
    assert launched(world) == ["Standard_D2s_v5", "Standard_D2s_v5"]
    world.advance(30)
    world.apply(pod("c", cpu="1500m"))
    world.advance(5)
    assert set(launched(world)[2:]) == {"Standard_D4s_v5"}


def test_karpenter_judges_no_pod_of_a_daemonset() -> None:
    """Core pkg/controllers/provisioning/provisioner.go GetPendingPods: each names its node by matchFields, which it would refuse."""
    small = requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5")
    world = World()
    world.apply(nodeclass(), nodepool(small), pod("a", cpu="1500m"))
    world.settle()
    world.apply(daemonset("agent", cpu="1"), pod("b", cpu="100m"), pod("c", cpu="1500m"))
    world.settle()
    agents = [one for one in world.list("Pod") if one["metadata"]["name"].startswith("agent-")]
    waiting = [one["metadata"]["name"] for one in agents if "nodeName" not in one["spec"]]
    assert waiting
    assert world.karpenter.waiting[1] == 0
    events = [event for event in world.events if event.object.name in waiting and event.source == "karpenter"]
    assert [event.message for event in events if event.reason == "FailedScheduling"] == []
