"""What two worlds came to, compared: names that are drawn do not count, everything else does."""

from __future__ import annotations

from typing import Any

from harness.world import World
from harness.world.snapshot import differences, snapshot
from tests.clusters.test_worlds import NODECLASS, NODEPOOL, pod


def pool(name: str, **labels: str) -> dict[str, Any]:
    template = {**NODEPOOL["spec"]["template"], "metadata": {"labels": labels}}
    return {**NODEPOOL, "metadata": {"name": name}, "spec": {**NODEPOOL["spec"], "template": template}}


def walked(*objects: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    world = World(seed=seed)
    wanting = {"one": "a", "two": "b", "three": "b"}
    pods = [pod(name) for name in wanting]
    for each, wanted in zip(pods, wanting.values(), strict=True):
        each["spec"]["nodeSelector"] = {"karpenter.sh/nodepool": wanted}
        each["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
    assert world.apply(NODECLASS, *objects, *pods) == []
    assert world.settle().quiescent
    assert len(world.list("Node")) >= 2
    return snapshot(world)


def test_drawn_names_do_not_count() -> None:
    one, other = walked(pool("a"), pool("b")), walked(pool("a"), pool("b"), seed=7)
    assert list(differences(one, other)) == []
    assert {*one["Node"]} >= {"Node 1 of a", "Node 1 of b"}


def test_what_is_different_is_told_with_its_place() -> None:
    one, other = walked(pool("a", team="x"), pool("b")), walked(pool("a", team="y"), pool("b"))
    assert ("Node[Node 1 of a][labels][team]", "x", "y") in list(differences(one, other))
