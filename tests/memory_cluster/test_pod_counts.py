"""Running counts of pods per owner are what counting from nothing comes to, whatever happens."""

from random import Random

import pytest

from harness.clusters.memory.pod_counts import PodCounts
from harness.clusters.memory.store import Store
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.kube.api.objects import Key, condition_is, is_terminating, name_of
from harness.kube.scheduling.pods import is_active, is_terminal
from harness.testing import pod

OWNERS = ["a", "b", "c"]


def owned(random, name):
    made = pod(name)
    chosen = random.sample(OWNERS, random.randint(0, 2))
    if chosen:
        references = [{"apiVersion": "v1", "kind": "ReplicaSet", "name": each, "uid": each} for each in chosen]
        made["metadata"]["ownerReferences"] = references * random.choice([1, 1, 2])
    return made


def status(random):
    ready = {"type": "Ready", "status": random.choice(["True", "False", "Unknown"])}
    phase = random.choice(["Pending", "Running", "Running", "Succeeded", "Failed"])
    return {"phase": phase, "conditions": random.choice([[], [ready]])}


def happen(random, store, number):
    pods = store.list("Pod")
    what = random.choice(["create", "create", "status", "status", "status", "owners", "delete", "finish"])
    if what == "create" or not pods:
        store.create(owned(random, f"p{number}"), ADMIN)
        return
    key = Key("Pod", "default", name_of(random.choice(pods)))
    if what == "status":
        found = status(random)
        store.modify("patch", key, lambda old: {**old, "status": found}, ADMIN, subresource="status")
    elif what == "owners":
        references = owned(random, key.name)["metadata"].get("ownerReferences", [])
        change = {"ownerReferences": references}
        store.modify("patch", key, lambda old: {**old, "metadata": {**old["metadata"], **change}}, ADMIN)
    else:
        store.delete(key, ADMIN, grace_period_seconds=0 if what == "finish" else random.choice([0, 30]))


@pytest.mark.parametrize("seed", range(10))
def test_counted_from_nothing(seed):
    random, counts = Random(seed), PodCounts()
    store = Store(Clock(), Ids(Rng(seed)))
    store.subscribe(counts.hear)
    seen = set()
    for number in range(150):
        happen(random, store, number)
        for owner in OWNERS:
            own = [each for each in store.indexed("owned-by", owner) if is_active(each)]
            ending = [
                each for each in store.indexed("owned-by", owner) if is_terminating(each) and not is_terminal(each)
            ]
            assert counts.counts_of(owner) == (len(own), sum(condition_is(each, "Ready") for each in own), len(ending))
            seen.add(counts.counts_of(owner))
    assert len(seen) > 5
    for each in store.list("Pod"):
        store.delete(Key("Pod", "default", name_of(each)), ADMIN, grace_period_seconds=0)
    assert {counts.counts_of(owner) for owner in OWNERS} == {(0, 0, 0)}
