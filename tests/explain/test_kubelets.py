"""A machine whose kubelet ends gets no Node: explanations, stories and upgrades name its error, and the release that cures it."""

from __future__ import annotations

import pytest

from harness.explain.pods.kubelets import kubelet_failures
from harness.explain.pods.waiting import nominations, waiting_reasons
from harness.explain.traces.story import story
from harness.explain.traces.why import Why
from harness.testing import nodeclass, nodepool, pod
from harness.trace.recorder import Recording
from harness.world import World

FLAG = "failed to parse kubelet flag: unknown flag: --pod-infra-container-image"


def settled(release: str, kubernetes: str) -> World:
    made = World(karpenter=release, kubernetes=kubernetes)
    made.apply(nodeclass(), nodepool(), pod("web"))
    made.settle()
    return made


def reasons(world: World) -> list[str]:
    target = nominations(world)["default", "web"]
    return list(waiting_reasons(world, world.list("Pod")[0], target))


def test_the_flag_and_the_release_that_leaves_it_out() -> None:
    """Kaz 1.7.2 pkg/providers/imagefamily/bootstrap/aksbootstrap.go passes it to every kubelet, 1.10.2 to those before 1.35."""
    world = settled("1.6.8", "1.35.2")
    (claim,) = world.list("NodeClaim")
    machine = f"aks-{claim['metadata']['name']}"
    cure = "which provider 1.6.8 passes and Kubernetes 1.35.2 does not know; provider 1.10.0 leaves it out"
    assert reasons(world)[-1] == f"the kubelet of {machine} ended: {FLAG}, {cure}"
    assert list(kubelet_failures(world, 0.0)) == [reasons(world)[-1]]
    assert list(kubelet_failures(world, world.clock.seconds + 1)) == []


@pytest.mark.parametrize(("release", "kubernetes"), [("1.6.8", "1.34.2"), ("1.10.2", "1.35.2")])
def test_none_where_the_kubelet_knows_its_flags(release: str, kubernetes: str) -> None:
    assert list(kubelet_failures(settled(release, kubernetes), 0.0)) == []


def test_the_story_and_the_why() -> None:
    world = World(karpenter="1.6.8", kubernetes="1.35.2")
    recording = Recording(world)
    world.apply(nodeclass(), nodepool(), pod("web"))
    world.settle()
    trace = recording.trace()
    assert [line.text.partition(" ended: ")[2] for line in story(trace) if "kubelet" in line.text] == [FLAG]
    (claim,) = Why(trace).claims()
    assert claim.endswith(f"; its kubelet ended: {FLAG}")
