"""Simulations that are kept are what the plain algorithm comes to: in random worlds and a week each one is made as well."""

from collections import Counter

import pytest
import yaml

from benchmarks.week import week
from harness.karpenter.scheduling.context import SchedulingContext
from harness.karpenter.scheduling.kept_simulations import KeptSimulations
from harness.karpenter.scheduling.simulation import Simulations
from harness.world import World
from tests.disruption.test_memory import some_days
from tools.fleet import fleet


def told(results):
    made = [
        (each.nodepool, each.mask, each.requirement_set.id, each.ordered, list(map(id, each.pods)), each.to_nodeclaim())
        for each in results.nodeclaims
    ]
    existing = [(name, list(map(id, pods))) for name, pods in results.existing.items()]
    errors = [(pod, str(reason)) for pod, reason in results.errors.items()]
    return made, existing, errors, results.events, dict(results.ignored), results.seconds, results.timed_out


@pytest.fixture
def compared(monkeypatch):
    """How many simulations were kept ones, and how many made; each is made plainly, too, and has to come to the same."""
    without, find, counts, plainly = Simulations.without, KeptSimulations.find, Counter(), []

    def checked(self, leaving, moving, **how):
        leaving = [*leaving]
        results = without(self, leaving, moving, **how)
        plainly.append(True)
        try:
            assert told(results) == told(without(self, leaving, moving, **how))
        finally:
            plainly.clear()
        return results

    def found(self, *asked):
        results = find(self, *asked)
        counts["made" if results is None else "kept"] += 1
        return results

    monkeypatch.setattr(Simulations, "without", checked)
    monkeypatch.setattr(KeptSimulations, "find", found)
    monkeypatch.setattr(SchedulingContext, "keeps_simulations", property(lambda self: not plainly))
    return counts


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_in_random_worlds(seed, compared):
    some_days(seed)
    assert compared["made"]


def test_in_a_week(compared):
    week(14)
    assert min(compared["kept"], compared["made"]) > 100


def test_in_a_fleet_of_which_a_third_is_rolled_out(compared):
    world, manifests = World(), fleet(60, 3)
    world.apply(*manifests)
    world.settle()
    world.advance(1800)
    for each in [each for each in manifests if each["kind"] == "Deployment"][::3]:
        template = {**each["spec"]["template"]["metadata"], "annotations": {"restarted": "1"}}
        world.apply({**each, "spec": {**each["spec"], "template": {**each["spec"]["template"], "metadata": template}}})
        world.advance(120)
    world.advance(3600)
    assert min(compared["kept"], compared["made"]) > 10


def _namespace(name, team):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}}


def _one_pod(name, namespace, cpu, **spec):
    container = {"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    labels = {"app": name, "role": "db" if name.startswith("db") else "web"}
    template = {"metadata": {"labels": labels}, "spec": {**spec, "containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


ZONE = "topology.kubernetes.io/zone"
POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      expireAfter: Never
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s}
"""


@pytest.mark.parametrize("deletes", [True, False], ids=["something goes", "nothing else happens"])
def test_namespaces_that_are_labelled_otherwise_change_where_pods_may_go(deletes, compared):
    """A pod beside the databases of a team: as soon as the team has the other namespace, two nodes are enough."""
    world = World(region="westeurope")
    nodeclass = {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "default"}}
    databases = [
        _one_pod(f"db-{name}", name, cpu, nodeSelector={ZONE: f"westeurope-{zone}"})
        for name, cpu, zone in (("x", "3", 1), ("y", "1", 2))
    ]
    spaces = _namespace("x", "a"), _namespace("y", "b")
    world.apply(*spaces, {**nodeclass, "spec": {}}, yaml.safe_load(POOL), *databases)
    world.settle()
    term = {
        "labelSelector": {"matchLabels": {"role": "db"}},
        "namespaceSelector": {"matchLabels": {"team": "a"}},
        "topologyKey": ZONE,
    }
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    world.apply(_one_pod("a", "default", "2", affinity=affinity))
    world.settle()
    world.advance(3600)
    world.apply(_one_pod("z", "default", "100m", nodeSelector={ZONE: "westeurope-1"}))
    world.settle()
    world.advance(3600)
    assert len(world.list("Node")) == 3
    world.apply(_namespace("x", "b"), _namespace("y", "a"))
    world.advance(60)
    if deletes:
        world.delete("Deployment", "z")
    world.advance(7200)
    assert len(world.list("Node")) == 2
