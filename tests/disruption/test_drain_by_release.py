"""How long a node drains at least, and what its NodeClaim says meanwhile, by release."""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND
from harness.kube.api.objects import Object, condition, name_of
from harness.testing import deployment, nodeclass, nodepool
from harness.world import World


def course(release: str, pods: int) -> tuple[list[tuple[str, str]], float]:
    """The conditions Drained and VolumesDetached one after the other, and the seconds from the deletion until the instance goes."""
    world = World(karpenter=release)
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    (claim,) = world.list("NodeClaim")
    if not pods:
        world.apply(deployment(replicas=0))
        world.settle()
    begun = world.clock.seconds
    world.delete("NodeClaim", name_of(claim))
    world.advance(60)
    steps: list[tuple[str, str]] = []
    for change in world.view.changes(0, "NodeClaim"):
        for kind in ("Drained", "VolumesDetached"):
            found = condition(change.object, kind)
            if name_of(change.object) == name_of(claim) and found and (kind, found["status"]) not in steps:
                steps.append((kind, found["status"]))
    (gone,) = (
        write.at for write in world.journal if write.key.kind == "NodeClaim" and terminates(write.before, write.after)
    )
    return steps, (gone - world.clock.start) / SECOND - begun


def terminates(before: Object | None, after: Object | None) -> bool:
    """Whether a write says that the instance is being terminated."""
    kind = "InstanceTerminating"
    return (
        after is not None and condition(after, kind) is not None and (before is None or condition(before, kind) is None)
    )


@pytest.mark.parametrize("release", ["1.10.2", "1.14.0"])
def test_a_node_drains_for_five_seconds_since_core_1_10(release: str) -> None:
    steps, seconds = course(release, pods=0)
    assert steps == [("Drained", "Unknown"), ("Drained", "True"), ("VolumesDetached", "True")]
    assert seconds == pytest.approx(5, abs=1)


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2"])
def test_an_empty_node_has_nothing_to_drain_before(release: str) -> None:
    steps, seconds = course(release, pods=0)
    assert steps == [("Drained", "True"), ("VolumesDetached", "True")]
    assert seconds == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2"])
def test_a_node_with_pods_says_that_it_drains(release: str) -> None:
    steps, _ = course(release, pods=1)
    assert steps == [("Drained", "Unknown"), ("Drained", "True"), ("VolumesDetached", "True")]


@pytest.mark.parametrize("pods", [0, 1])
def test_core_1_4_has_no_such_conditions(pods: int) -> None:
    steps, _ = course("1.4.0", pods)
    assert steps == []
