"""What kube-scheduler lays out for a cycle is brought up to date: after any history it is what reading all Nodes and pods gives."""

from contextlib import suppress
from random import Random

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import name_of
from harness.kube.api.status import ApiError
from harness.kube.scheduling.placement import NodeInfo
from harness.testing import node, pod
from harness.world.recorder import Recorder

NAMES = [f"n{number}" for number in range(6)]


def happen(random, writer, view, number):
    what = random.choice(["node", "pod", "pod", "bound", "taint", "end", "delete", "delete node"])
    name, pods = random.choice(NAMES), view.list("Pod")
    if what == "node":
        writer.create(node(name, random.choice(["2", "4"]), "8Gi", pods="5"))
    elif what == "pod":
        writer.create(pod(f"p{number}", random.choice(["500m", "1"]), ""))
    elif what == "bound":  # also to Nodes that are not there yet
        writer.create(pod(f"p{number}", "100m", "", nodeName=name))
    elif what == "taint":
        taints = random.choice([[], [{"key": "team", "value": "a", "effect": "NoSchedule"}]])
        writer.patch("Node", name, {"spec": {"taints": taints}})
    elif what == "delete node":
        writer.delete("Node", name)
    elif pods and what == "end":
        status = {"status": {"phase": random.choice(["Succeeded", "Running"])}}
        writer.patch("Pod", name_of(random.choice(pods)), status, namespace="default", subresource="status")
    elif pods:
        writer.delete("Pod", name_of(random.choice(pods)), namespace="default", grace_period_seconds=0)


def told(info):
    return info.node, info.requested, info.lowest, sorted(map(name_of, info.pods)), len(info.repelling)


@pytest.mark.parametrize("seed", range(10))
def test_made_from_nothing(seed):
    random, engine = Random(seed), Engine(Clock())
    memory = MemoryCluster(
        engine, Rng(0), Ids(Rng(0)), Recorder(engine.clock), crds=crd_set("1.14.0"), kubernetes="1.35.0"
    )
    writer, view, scheduler, most = memory.writer(ADMIN), memory.view, memory._scheduler, 0
    for number in range(150):
        with suppress(ApiError):  # of a Node that is there, or is not
            happen(random, writer, view, number)
        if random.random() < 0.4:
            engine.advance(random.choice([0.5, 2, 60]))
            infos = scheduler._table().infos
            fresh = {
                name_of(each): NodeInfo(each, view.indexed("pods-by-node", name_of(each))) for each in view.list("Node")
            }
            assert list(infos) == list(fresh)
            assert list(map(told, infos.values())) == list(map(told, fresh.values()))
            most = max(most, sum(len(each.pods) for each in infos.values()))
    assert most > 4


def test_nothing_is_kept_of_pods_that_are_bound_or_gone():
    engine = Engine(Clock())
    memory = MemoryCluster(
        engine, Rng(0), Ids(Rng(0)), Recorder(engine.clock), crds=crd_set("1.14.0"), kubernetes="1.35.0"
    )
    writer, scheduler = memory.writer(ADMIN), memory._scheduler
    for name, cpu in (("small", "1"), ("large", "8"), ("waits", "8")):
        writer.create(pod(name, cpu))
    writer.create(node("n", "4"))
    engine.settle()
    writer.delete("Pod", "large", namespace="default")
    engine.settle()
    waits = memory.view.get("Pod", "waits", "default")
    assert waits is not None
    assert list(scheduler._looks) == [waits["metadata"]["uid"]]
