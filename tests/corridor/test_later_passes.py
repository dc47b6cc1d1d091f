"""A pass in which only time has passed comes to what the pass before came to, unless a tie is drawn or do-not-disrupt may have ended."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.scheduling import solve
from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World

ZONE = "topology.kubernetes.io/zone"
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web"},
    "spec": {"minAvailable": 4, "selector": {"matchLabels": {"app": "web"}}},
}


class Counting(Listener):
    """Somebody who looks at every simulation."""

    def __init__(self) -> None:
        self.seen = 0

    def solved(self, *facts: Any) -> None:
        self.seen += 1


def _drained(annotation: str | None, spread: bool, listeners: list[Listener]) -> dict[str, list[str]]:
    """What is told and written while nodes with such pods are drained for minutes, and other pods keep asking for a place."""
    world = World(karpenter="1.14.0", seed=3)
    world.listeners.extend(listeners)
    web = deployment("web", replicas=4, cpu="1", memory="1Gi")
    template = web["spec"]["template"]
    if annotation is not None:
        template["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": annotation}
    if spread:
        template["spec"]["topologySpreadConstraints"] = [SPREAD]
    sizes = requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5", "Standard_D4s_v5")
    world.apply(nodeclass(), nodepool(sizes, terminationGracePeriod="10m"), web, BUDGET)
    world.settle()
    for claim in world.list("NodeClaim")[:2]:
        world.delete("NodeClaim", claim["metadata"]["name"])
    for _ in range(40):
        world.advance(20)
    return {
        "events": [str(each) for each in world.events],
        "log": [f"{each.at} {each.message} {each.values}" for each in world.log],
        "writes": [f"{each.revision} {each.at} {each.verb} {each.key} {each.after}" for each in world.journal],
    }


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("annotation", [None, "true", "3m", "a while"])
def test_who_looks_at_each_simulation_sees_the_same_world(annotation: str | None, spread: bool) -> None:
    counting = Counting()
    assert _drained(annotation, spread, []) == _drained(annotation, spread, [counting])
    assert counting.seen > 3


@pytest.mark.parametrize(("annotation", "watched"), [(None, False), (None, True), ("true", False), ("10h", True)])
def test_a_pass_in_which_only_time_has_passed_simulates_nothing(
    annotation: str | None, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments: list[list[Any]] = []

    def noted(snapshot: Any, *inputs: Any, **options: Any) -> Any:
        moments.append([snapshot.pods, snapshot.nodes, snapshot.nodeclaims, snapshot.deleting])
        return solve(snapshot, *inputs, **options)

    monkeypatch.setattr("harness.karpenter.provisioning.provisioner.solve", noted)
    _drained(annotation, spread=False, listeners=[Counting()] if watched else [])
    assert any(one == other for one, other in pairwise(moments)) is watched
