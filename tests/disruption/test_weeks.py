"""Random clusters over some days: what disruption may never do, whatever happens.

These are a sample, in which an eviction that no budget of pods stops and a replacement that is dearer are noticed. `make properties`
takes more seeds (EXAMPLES=10: ten times as many).
"""

from random import Random

import pytest

from harness.engine.clock import parse
from harness.testing import deployment
from harness.world import World
from tests.disruption.history import Costs, check_budgets_of_nodes, check_budgets_of_pods
from tests.disruption.test_world import NODECLASS, pool
from tests.examples import examples

HOUR = 3600.0
CAPACITY = ["on-demand"], ["on-demand"], ["spot", "on-demand"]
SIZES = ["Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5", "Standard_E4s_v5", "Standard_F4s_v2"]
BUDGETS = [[{"nodes": "1"}], [{"nodes": "30%"}], [{"nodes": "2"}, {"nodes": "50%", "reasons": ["Empty"]}]]


def cluster(random: Random) -> World:
    disruption = {
        "consolidateAfter": random.choice(["0s", "30s", "5m"]),
        "consolidationPolicy": random.choice(["WhenEmpty", "WhenEmptyOrUnderutilized"]),
        "budgets": random.choice(BUDGETS),
    }
    made = pool(disruption)
    made["spec"]["template"]["spec"]["requirements"][1]["values"] = random.sample(SIZES, 3)
    release = random.choice(["1.6.5", "1.10.2", "1.13.1", "1.14.0"])
    world = World(seed=random.randrange(1000), karpenter=release)
    world.apply(NODECLASS, made)
    for number in range(4):
        name = f"app{number}"
        world.apply(deployment(name, random.randint(1, 6), random.choice(["300m", "1", "1500m"])))
        if random.random() < 0.6:
            world.apply(budget(name, random.choice([{"maxUnavailable": 1}, {"minAvailable": "50%"}])))
    world.settle()
    return world


def with_spot(world: World, random: Random) -> World:
    """The same, and Azure may take some of its machines back."""
    changed = world.get("NodePool", "default")
    requirements = changed["spec"]["template"]["spec"]["requirements"]
    requirements[0]["values"] = random.choice(CAPACITY)
    world.apply(changed)
    return world


def evict(world: World, random: Random) -> None:
    """Azure takes a spot machine, where there is one."""
    labelled = {node["metadata"]["name"]: node["metadata"]["labels"] for node in world.list("Node")}
    spot = sorted(name for name, labels in labelled.items() if labels.get("karpenter.sh/capacity-type") == "spot")
    if spot:
        world.evict(random.choice(spot))


def budget(name, spec):
    selector = {"matchLabels": {"app": name}}
    meta = {"name": name}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": selector, **spec},
    }


def happen(world: World, random: Random) -> None:
    """A deploy, a change of scale, a change of the NodePool's template, or nothing."""
    what = random.choice(["scale", "scale", "deploy", "drift", "nothing"])
    if what == "drift":
        changed = world.get("NodePool", "default")
        changed["spec"]["template"]["metadata"] = {"labels": {"turn": str(random.randrange(100))}}
        world.apply(changed)
    elif what != "nothing":
        app = world.get("Deployment", f"app{random.randrange(4)}")
        if what == "scale":
            app["spec"]["replicas"] = random.randint(0, 8)
        else:
            app["spec"]["template"]["metadata"]["labels"]["deploy"] = str(random.randrange(1000))
        world.apply(app)


def allowed(world: World, total: int) -> int:
    """The least of the NodePool's budgets for any reason, which holds whatever the reason is only if it is the largest."""
    budgets = world.get("NodePool", "default")["spec"]["disruption"]["budgets"]
    counts = []
    for each in budgets:
        text = each["nodes"]
        counts.append(-(-int(text[:-1]) * total // 100) if text.endswith("%") else int(text))
    return max(counts)


def check_moment(world: World) -> None:
    """What holds at any time."""
    for app in world.list("Deployment"):
        name, wanted = app["metadata"]["name"], app["spec"]["replicas"]
        pods = [
            pod
            for pod in world.list("Pod")
            if pod["metadata"]["labels"]["app"] == name and "deletionTimestamp" not in pod["metadata"]
        ]
        assert len(pods) == wanted, name
    initialized = [node for node in world.list("Node") if "karpenter.sh/initialized" in node["metadata"]["labels"]]
    going = [
        node
        for node in initialized
        if any(taint["key"] == "karpenter.sh/disrupted" for taint in node["spec"].get("taints") or ())
    ]
    assert len(going) <= max(allowed(world, len(initialized)), 1)


def check_rest(world: World) -> None:
    """What holds once nothing has happened for a while."""
    world.advance(2 * HOUR)
    before = world.cluster.view.revision
    world.advance(HOUR)
    assert world.cluster.view.revision == before, "the world is at rest after a quiet hour"
    nodes, claims, machines = world.list("Node"), world.list("NodeClaim"), world.vms()
    names = sorted(each.name for each in machines)
    assert sorted(each["spec"]["providerID"].rpartition("/")[2] for each in nodes) == names
    assert sorted(each["status"]["providerID"].rpartition("/")[2] for each in claims) == names
    assert all(pod["status"]["phase"] == "Running" for pod in world.list("Pod"))
    assert not any(node["spec"].get("taints") for node in nodes)
    assert all(parse(claim["metadata"]["creationTimestamp"]) >= 0 for claim in claims)
    check_budgets_of_nodes(world)
    check_budgets_of_pods(world)


@pytest.mark.parametrize("seed", range(examples(2, 4)))
def test_days_of_a_random_cluster(seed):
    random = Random(seed)
    world = cluster(random)
    costs = Costs(world)
    for _ in range(24):
        happen(world, random)
        costs.changed()
        for _ in range(12):
            world.advance(300)
            check_moment(world)
            costs.look()
    check_rest(world)


@pytest.mark.parametrize("seed", range(7, 7 + examples(2, 6)))
def test_a_week_of_a_random_cluster(seed):
    """As the days, with a change every eight hours, and more time in which nothing happens; some have spot machines, of which Azure has
    none from time to time."""
    random = Random(seed)
    world = with_spot(cluster(random), random)
    costs = Costs(world)
    for turn in range(21):
        happen(world, random)
        if turn % 3 == 1:
            evict(world, random)
        if turn % 4 == 2:
            world.change_azure({"quota": {"lowPriorityCores": random.choice([0, 100])}})
        costs.changed()
        for _ in range(16):
            world.advance(1800)
            check_moment(world)
            costs.look()
    check_rest(world)
    assert world.disruptions
    assert costs.compared


@pytest.mark.parametrize("seed", range(examples(2, 2)))
def test_evictions_never_break_a_budget_of_pods(seed):
    """All nodes drift again and again."""
    random = Random(100 + seed)
    world = cluster(random)
    for _ in range(10):
        changed = world.get("NodePool", "default")
        changed["spec"]["template"]["metadata"] = {"labels": {"turn": str(random.randrange(10_000))}}
        world.apply(changed)
        world.advance(600)
    assert check_budgets_of_pods(world)
    assert check_budgets_of_nodes(world)
