"""What controllers keep up with each change of a NodeClaim or Node is what looking at all of them comes to, whatever happens."""

from random import Random

import pytest

from harness.clusters.memory.store import Store
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.karpenter.lifecycle.nodepools.usage import RunningUsage, usage_of
from harness.karpenter.provisioning.comings_and_goings import ComingsAndGoings
from harness.kube.api.objects import Key, is_terminating, name_of, status_of

POOLS = ["a", "b"]
MACHINES = ["azure:///1", "azure:///2", "azure:///3", "azure:///4"]
CAPACITIES = [
    {},
    {"cpu": "2", "memory": "8Gi", "pods": "110"},
    {"cpu": "3900m", "memory": "8388608Ki"},
    {"cpu": "2", "memory": "8e9", "hugepages-2Mi": "0"},
    {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"},
]


def labels(random):
    pool = random.choice([*POOLS, None])
    return {"karpenter.sh/nodepool": pool} if pool else {}


def make(random, store, kind, number):
    meta = {"name": f"{kind.lower()}{number}", "labels": labels(random)}
    if kind == "NodeClaim":
        meta["finalizers"] = random.choice([[], ["karpenter.sh/termination"]])
    version = {"NodeClaim": "karpenter.sh/v1", "Node": "v1"}[kind]
    store.create({"apiVersion": version, "kind": kind, "metadata": meta, "spec": {}}, ADMIN)


def change(random, store, kind, name):
    key, capacity, machine = Key(kind, "", name), random.choice(CAPACITIES), random.choice([*MACHINES, None])
    place = "status" if kind == "NodeClaim" else "spec"
    what = random.choice(["capacity", "capacity", "machine", "machine", "labels", "conditions"])
    if what == "labels":
        found = labels(random)
        store.modify("patch", key, lambda old: {**old, "metadata": {**old["metadata"], "labels": found}}, ADMIN)
    elif what == "machine" and place == "spec":
        store.modify("patch", key, lambda old: {**old, "spec": {"providerID": machine}}, ADMIN)
    else:
        said = {"capacity": capacity} if what == "capacity" else {"conditions": [{"type": "Ready", "n": name}]}
        if what == "machine":
            said = {"providerID": machine}
        store.modify(
            "patch", key, lambda old: {**old, "status": {**old.get("status", {}), **said}}, ADMIN, subresource="status"
        )


def happen(random, store, number):
    kind = random.choice(["NodeClaim", "Node"])
    present = store.list(kind)
    if len(present) < 3 or random.random() < 0.1:
        make(random, store, kind, number)
    elif random.random() < 0.1:
        key = Key(kind, "", name_of(random.choice(present)))
        store.delete(key, ADMIN)
        if store.get(key.kind, key.name) is not None and random.random() < 0.5:
            store.modify("patch", key, lambda old: {**old, "metadata": {**old["metadata"], "finalizers": []}}, ADMIN)
    else:
        change(random, store, kind, name_of(random.choice(present)))


def told(usage):
    return {name: str(quantity) for name, quantity in usage.items()}


@pytest.fixture(params=range(12))
def random(request):
    return Random(request.param)


@pytest.fixture
def store(random):
    return Store(Clock(), Ids(Rng(random.randrange(1000))))


def test_what_nodepools_use(random, store):
    usage = RunningUsage(store)
    store.subscribe(usage.hear)
    most = 0
    for number in range(200):
        happen(random, store, number)
        if random.random() < 0.6:  # nobody looks after each change
            for pool in POOLS:
                assert told(usage.of(pool)) == told(usage_of(store, pool))
                most = max(most, len(usage.of(pool)))
    assert most > 3


def test_machines_without_a_provider_id_and_those_that_go(random, store):
    machines = ComingsAndGoings()
    store.subscribe(machines.hear)
    for number in range(200):
        happen(random, store, number)
        claims, nodes = store.list("NodeClaim"), store.list("Node")
        assert machines.coming == any(not status_of(each).get("providerID") for each in claims)
        assert machines.going == any(map(is_terminating, [*claims, *nodes]))


def with_capacity(store, name, machine, **capacity):
    store.create(
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "a"}},
            "spec": {},
            "status": {"providerID": machine, "capacity": capacity},
        },
        ADMIN,
    )
    store.modify(
        "patch",
        Key("NodeClaim", "", name),
        lambda old: {**old, "status": {"providerID": machine, "capacity": capacity}},
        ADMIN,
        subresource="status",
    )


@pytest.mark.parametrize(
    ("amounts", "total"),
    [
        (["1Gi", "1024"], "1048577Ki"),
        (["1024", "1Gi"], "1073742848"),
        (["0", "1Gi", "1024"], "1048577Ki"),
        (["1Gi", "1Gi"], "2Gi"),
        (["1000", "1e3"], "2k"),
        (["0", "1e3", "1000"], "2e3"),
        (["0", "1Gi"], "1Gi"),
        (["1Gi", "0"], "1Gi"),
        (["0", "0"], "0"),
        ([], None),
    ],
)
def test_a_sum_is_written_as_the_first_amount_that_is_something(amounts, total):
    """As apimachinery's Quantity.Add keeps the format: an amount of zero takes that of the other."""
    store = Store(Clock(), Ids(Rng(1)))
    usage = RunningUsage(store)
    store.subscribe(usage.hear)
    for number, amount in enumerate(amounts):
        with_capacity(store, f"c{number}", f"azure:///{number}", memory=amount)
    assert told(usage.of("a")).get("memory") == total
    assert told(usage.of("a")) == told(usage_of(store, "a"))
    assert told(usage.of("a"))["nodes"] == str(len(amounts))
    for number in range(len(amounts)):
        store.delete(Key("NodeClaim", "", f"c{number}"), ADMIN)
    assert told(usage.of("a")) == {"nodes": "0"}
