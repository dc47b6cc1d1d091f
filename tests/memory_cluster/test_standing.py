"""Equal pods are answered from what the nodes said before: random nodes, pods and changes, against asking every node anew."""

from random import Random

import pytest

from harness import testing
from harness.kube.api.labels import HOSTNAME, ZONE
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import KNOWN, Version
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.kube.scheduling.standing import Standings, looks_at_nodes_alone

TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
SAME, OTHERS = (Selector.parse({"matchLabels": {"app": app}}) for app in "ab")
SOFT = {"key": "soft", "effect": "PreferNoSchedule"}


def node(random, name):
    spec = {"taints": [each for each in (TAINT, SOFT) if random.random() < 0.2], "unschedulable": random.random() < 0.1}
    amounts = {"cpu": random.choice(["1", "2", "4"]), "memory": "8Gi", "pods": random.choice(["2", "5", "110"])}
    labels = {"zone": random.choice("123")}
    labels |= {key: value for key, value in ((HOSTNAME, name), (ZONE, labels["zone"])) if random.random() < 0.8}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": {"allocatable": amounts}}


def pod(random, name):
    requests = {"cpu": random.choice(["250m", "500m", "1"]), "memory": random.choice(["128Mi", "1Gi"])}
    container = {"resources": {"requests": requests}, "ports": [{"hostPort": 80}] if random.random() < 0.1 else []}
    spec = {"containers": [container], "priority": random.choice([0, 0, 10])}
    if random.random() < 0.3:
        spec["tolerations"] = [{"operator": "Exists"}]
    if random.random() < 0.3:
        spec["nodeSelector"] = {"zone": random.choice("123")}
    labels = {"app": random.choice("ab")}
    return {"metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels}, "spec": spec}


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_asking_every_node(seed):
    random = Random(seed)
    version = random.choice([Version(1, 35), KNOWN[1]])
    kinds = [pod(random, f"kind-{number}") for number in range(6)]
    siblings = [random.choice([None, SAME, OTHERS]) for _ in kinds]
    infos = {f"node-{number}": NodeInfo(node(random, f"node-{number}")) for number in range(8)}
    standings, placed, refused = Standings(), 0, 0
    for step in range(250):
        change = random.random()
        name = f"node-{random.randrange(10)}"
        if change < 0.1:
            infos[name] = NodeInfo(node(random, name))
            standings.changed(name)
        elif change < 0.15 and infos.pop(name, None) is not None:
            standings.gone(name)
        elif change < 0.3 and name in infos and infos[name].pods:
            infos[name] = infos[name].without([random.choice(infos[name].pods)])
            standings.changed(name)
        number = random.randrange(len(kinds))
        asking = kinds[number]
        offered = []

        def choose(names, offered=offered):
            offered.append(list(names))
            return names[0]

        found = standings.standing_for(number, asking, infos, version, siblings[number]).verdict(infos, choose)
        mine = offered.pop() if offered else None
        nodes = list(infos.values())
        wanted = schedule(asking, nodes, choose=choose, version=version, siblings=siblings[number])
        assert found == wanted
        assert mine == (offered[0] if offered else None) or mine == [wanted]
        if isinstance(found, Unschedulable):
            assert found.message == wanted.message
            refused += 1
        else:
            placed += 1
            bound = {**asking, "metadata": {**asking["metadata"], "uid": f"bound-{step}"}}
            infos[found].add_pod(bound)
            standings.changed(found)
    assert placed > 20
    assert refused > 20


TERMS = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOSTNAME}]}


@pytest.mark.parametrize(
    ("spec", "alone"),
    [
        ({}, True),
        ({"affinity": None, "volumes": [], "topologySpreadConstraints": []}, True),
        ({"affinity": {"nodeAffinity": TERMS}}, True),
        ({"affinity": {"podAffinity": TERMS}}, False),
        ({"affinity": {"podAntiAffinity": TERMS}}, False),
        ({"topologySpreadConstraints": [{"topologyKey": ZONE}]}, False),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, False),
        ({"volumes": [{"name": "v", "emptyDir": {}}], "affinity": {"podAffinity": TERMS}}, False),
    ],
)
def test_pods_for_which_others_do_not_matter(spec, alone):
    assert looks_at_nodes_alone(testing.pod(**spec)) is alone


def full(*priorities):
    taken = [
        {**testing.pod(f"p{number}", "1", "", priority=priority, labels={"app": f"p{number}"})}
        for number, priority in enumerate(priorities)
    ]
    return {"a": NodeInfo(testing.node("a", str(len(taken))), taken)}


def keeping(app):
    spec = {"selector": {"matchLabels": {"app": app}}}
    return {"metadata": {"name": app, "namespace": "default"}, "spec": spec, "status": {"disruptionsAllowed": 0}}


@pytest.mark.parametrize("priority", [None, 5])
def test_a_refusal_stays_while_nothing_changes_it(priority):
    asking = testing.pod("asking", "1", "", **({"priority": priority} if priority is not None else {}))
    infos = full(priority or 0, 7)
    standing = Standings().standing_for("p", asking, infos, KNOWN[1])
    refusal = standing.verdict(infos, min)
    assert isinstance(refusal, Unschedulable)
    assert standing.verdict(infos, min, [keeping("p0")]) is refusal
    standing.changed.add("a")
    assert standing.verdict(infos, min) is refusal


def test_who_is_preempted_depends_on_the_budgets_of_the_moment():
    infos = full(0, 0)
    standing = Standings().standing_for("p", testing.pod("asking", "1", "", priority=5), infos, KNOWN[1])
    for stays, goes in (("p0", "p1"), ("p1", "p0")):
        found = standing.verdict(infos, min, [keeping(stays)])
        assert [each["metadata"]["name"] for each in found.preemption.victims] == [goes]


def test_another_version_words_its_refusals_anew():
    standings, asking = Standings(), pod(Random(0), "p")
    older, newer = (standings.standing_for("p", asking, {}, version) for version in (KNOWN[0], KNOWN[-1]))
    assert older is not newer
    assert standings.standing_for("p", asking, {}, KNOWN[0]) is older
