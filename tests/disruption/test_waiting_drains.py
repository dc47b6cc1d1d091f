"""A node that waits for pods or volumes is looked at each second: while nothing changes, a look only tells again what it waits for."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from harness.karpenter.lifecycle.nodes.drain import Drain
from harness.kube.api.objects import Object, name_of
from harness.kube.api.status import ApiError
from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World
from tests.disruption.forgetting import told_by
from tests.disruption.test_drain_by_release import attachment

RELEASES = ["1.4.0", "1.7.2", "1.14.0"]
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web"},
    "spec": {"minAvailable": 4, "selector": {"matchLabels": {"app": "web"}}},
}


def workload(annotation: str | None) -> Object:
    web = deployment("web", replicas=4, cpu="1", memory="1Gi")
    if annotation is not None:
        web["spec"]["template"]["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": annotation}
    return web


def change(world: World, random: Random) -> None:
    """Something that a waiting drain may depend on."""
    what = random.choice(["budget", "protect", "volume", "unready", "taint", "pod", "nothing"])
    nodes, pods = world.list("Node"), world.list("Pod")
    if what == "budget":
        if world.list("PodDisruptionBudget"):
            world.delete("PodDisruptionBudget", "web", "default")
        else:
            world.apply(BUDGET)
    elif what == "protect" and pods:
        pod = random.choice(pods)
        pod["metadata"].setdefault("annotations", {})["karpenter.sh/do-not-disrupt"] = random.choice(
            ["true", "20m", "a while"]
        )
        world.apply(pod)
    elif what == "volume" and nodes:
        if world.list("VolumeAttachment"):
            world.delete("VolumeAttachment", "va")
        else:
            world.apply(attachment("va", name_of(random.choice(nodes))))
    elif what == "unready" and nodes:
        machine = str(random.choice(nodes)["spec"].get("providerID")).removeprefix("azure://")
        world.cloud.request("POST", f"{machine}/powerOff", query={"api-version": "2025-04-01"})
    elif what == "taint" and nodes:
        node = random.choice(nodes)
        node["spec"]["taints"] = [{"key": "own", "effect": "NoSchedule"}]
        world.apply(node)
    elif what == "pod" and pods:
        world.delete("Pod", name_of(random.choice(pods)), "default")


def drained(release: str, annotation: str | None, seed: int) -> Any:
    """An hour of two nodes that are to go, and of changes around them; and how many calls Azure got."""
    random = Random(seed)
    world = World(karpenter=release, seed=seed)
    sizes = requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5", "Standard_D4s_v5")
    world.apply(nodeclass(), nodepool(sizes), workload(annotation), BUDGET)
    world.settle()
    for claim in world.list("NodeClaim")[:2]:
        world.delete("NodeClaim", name_of(claim))
    for _ in range(12):
        world.advance(random.choice([5, 130, 600]))
        change(world, random)
    world.advance(900)
    return told_by(world), world.cloud.journal.last


@pytest.mark.parametrize("annotation", [None, "true", "20m"])
@pytest.mark.parametrize("release", RELEASES)
def test_looks_that_remember_nothing_come_to_the_same(
    release: str, annotation: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = RELEASES.index(release) * 3 + len(annotation or "")
    remembered = drained(release, annotation, seed)
    monkeypatch.setattr(Drain, "is_timeless", lambda self, node: False)
    assert drained(release, annotation, seed) == remembered


def looks(monkeypatch: pytest.MonkeyPatch, annotation: str) -> tuple[int, World]:
    """How often the pods of a node were judged in the second half of an hour in which it waited for one of them."""
    found: list[str] = []
    step = Drain.step
    monkeypatch.setattr(Drain, "step", lambda self, node, deadline: found.append("") or step(self, node, deadline))
    world = World(karpenter="1.14.0")
    world.apply(nodeclass(), nodepool(), workload(annotation))
    world.settle()
    world.delete("NodeClaim", name_of(world.list("NodeClaim")[0]))
    world.advance(1800)
    found.clear()
    world.advance(1800)
    return len(found), world


def test_pods_of_a_node_that_waits_are_judged_when_something_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    count, world = looks(monkeypatch, "true")
    assert count < 10
    told = [each.at for each in world.events if each.reason == "FailedDraining"]
    assert len(told) == pytest.approx(3600 / 120, abs=1), "told again when the window is over"


def test_pods_that_are_protected_for_a_while_are_judged_each_second(monkeypatch: pytest.MonkeyPatch) -> None:
    count, _ = looks(monkeypatch, "10h")
    assert count == pytest.approx(1800, abs=5)


def test_a_pod_that_left_the_eviction_queue_is_queued_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API server's 409 ends an eviction, although nothing has changed."""
    world = World(karpenter="1.14.0")
    world.apply(nodeclass(), nodepool(), workload(None), BUDGET)
    world.settle()
    world.delete("NodeClaim", name_of(world.list("NodeClaim")[0]))
    world.advance(300)
    evictions, answers = world.karpenter.evictions, world.karpenter.evictions.answers
    assert set(answers) == {429}

    def conflict(*pod: Any, **more: Any) -> None:
        raise ApiError(409, "Conflict", "the pod is another one")

    with monkeypatch.context() as once:
        once.setattr(type(evictions._writer), "evict", conflict)
        world.advance(11)
    refused = answers[429]
    world.advance(60)
    assert answers[409] >= 4
    assert answers[429] > refused
