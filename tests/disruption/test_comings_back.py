"""Things come, go and come back under the same names: worlds that keep nothing between looks come to the same."""

from random import Random

import pytest

from harness.testing import deployment
from harness.world import World
from tests.disruption.forgetting import forget, told_by
from tests.disruption.test_weeks import SIZES, budget
from tests.disruption.test_world import NODECLASS, pool

DISRUPTION = {"consolidateAfter": "5m", "budgets": [{"nodes": "50%"}]}


def overlay(price: str) -> dict:
    chosen = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": SIZES[:2]}]
    return {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "dear"},
        "spec": {"requirements": chosen, "price": price},
    }


def flip(world: World, kind: str, made: dict) -> None:
    """Deletes an object, or makes it where it is not there."""
    name = made["metadata"]["name"]
    if any(each["metadata"]["name"] == name for each in world.list(kind)):
        world.delete(kind, name, *([] if kind != "PodDisruptionBudget" else ["default"]))
    else:
        world.apply(made)


def change(world: World, random: Random, number: int) -> None:
    what = random.choice(
        ["pdb", "price", "overlay", "pool", "node", "taint", "label", "claim", "scale", "drift", "protect"]
    )
    nodes = sorted(each["metadata"]["name"] for each in world.list("Node"))
    claims = sorted(each["metadata"]["name"] for each in world.list("NodeClaim"))
    if what == "pdb":
        flip(world, "PodDisruptionBudget", budget("app0", {"maxUnavailable": random.randrange(2)}))
    elif what == "price":
        size = random.choice(SIZES)
        for price in (5.0, random.choice([0.01, 0.1])):
            world.change_azure({"prices": {size: {"on-demand": price}}})
            world.advance(random.choice([1, 700]))
    elif what == "overlay":
        flip(world, "NodeOverlay", overlay(f"{random.random():.2f}"))
    elif what in ("pool", "drift"):
        changed = world.get("NodePool", "default")
        if what == "pool":
            changed["spec"]["disruption"]["consolidationPolicy"] = random.choice(
                ["WhenEmpty", "WhenEmptyOrUnderutilized"]
            )
        else:
            changed["spec"]["template"]["metadata"] = {"labels": {"turn": str(number)}}
        world.apply(changed)
    elif what in ("taint", "label", "protect") and nodes:
        changed = world.get("Node", random.choice(nodes))
        if what == "taint":
            changed["spec"]["taints"] = [{"key": "own", "effect": "NoSchedule"}] if random.random() < 0.5 else []
        elif what == "label":
            changed["metadata"]["labels"]["own"] = str(number)
        else:
            changed["metadata"].setdefault("annotations", {})["karpenter.sh/do-not-disrupt"] = random.choice(
                ["true", "false"]
            )
        world.apply(changed)
    elif what == "node" and nodes:
        world.delete("Node", random.choice(nodes))
    elif what == "claim" and claims:
        world.delete("NodeClaim", random.choice(claims))
    elif what == "scale":
        changed = world.get("Deployment", f"app{random.randrange(2)}")
        changed["spec"]["replicas"] = random.randrange(4, 16)
        world.apply(changed)


def some_days(seed: int):
    random = Random(seed)
    world = World(seed=seed, karpenter="1.14.0", options={"feature_gates": {"NodeOverlay": True}})
    made = pool(dict(DISRUPTION))
    made["spec"]["template"]["spec"]["requirements"][1]["values"] = SIZES[:3]
    world.apply(NODECLASS, made, *(deployment(f"app{each}", 12, "700m") for each in range(2)))
    world.settle()
    for number in range(14):
        change(world, random, number)
        world.advance(random.choice([20, 90, 400, 1800]))
    world.advance(3600)
    return told_by(world)


@pytest.mark.parametrize("seed", range(4))
def test_without_a_memory_it_is_the_same(seed, monkeypatch):
    known = some_days(seed)
    forget(monkeypatch)
    assert some_days(seed) == known
