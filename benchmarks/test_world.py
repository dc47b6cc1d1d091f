"""What a world costs: creating one, walking the corridor, writing to the store. Warm caches, one process, CPU time."""

from time import process_time

import pytest

from harness.clusters.memory.store import Store
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.world import World

pytestmark = pytest.mark.benchmark(timer=process_time)

NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}
NODEPOOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [],
            }
        }
    },
}


def pod(name: str = "p") -> dict:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def corridor(pods: int) -> World:
    world = World()
    world.apply(NODECLASS, NODEPOOL, *(pod(f"p{number}") for number in range(pods)))
    assert world.settle().quiescent
    return world


def test_new_world(benchmark):
    benchmark(World)


def test_corridor_of_one_pod(benchmark, capsys):
    corridor(1)
    benchmark.pedantic(corridor, (1,), rounds=100)
    with capsys.disabled():
        print(f"\ncorridor of one pod: {benchmark.stats.stats.min * 1000:.1f} ms CPU (goal 5 ms)")


def test_corridor_of_a_hundred_pods(benchmark):
    corridor(1)
    benchmark.pedantic(corridor, (100,), rounds=3)


def test_creations_in_the_store(benchmark):
    def create() -> Store:
        store = Store(Clock(), Ids(Rng(0)))
        for number in range(1000):
            store.create(pod(f"p{number}"), ADMIN)
        return store

    assert len(benchmark(create).list("Pod")) == 1000
