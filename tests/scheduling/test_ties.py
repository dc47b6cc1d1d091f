"""Ties that upstream leaves to the order of a Go map: the first by name, or drawn, anew with each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from harness.engine.rng import Rng
from harness.karpenter.scheduling import SchedulingOptions
from harness.karpenter.scheduling.topology.ties import Ties
from harness.world import World
from tests.scheduling import workload

ZONE = "topology.kubernetes.io/zone"


def spread(name: str, cpu: str = "1") -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
        "topologySpreadConstraints": [constraint],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}


def world(seed: int, *pods: dict[str, Any], scope: str = "zonal") -> World:
    made = World(karpenter="1.14.0", region="eastus2", seed=seed)
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    requirements = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5"]},
        {"key": "karpenter.azure.com/placement-scope", "operator": "In", "values": [scope]},
    ]
    template = {"spec": {"nodeClassRef": reference, "requirements": requirements}}
    for obj in (
        {
            "apiVersion": "karpenter.azure.com/v1beta1",
            "kind": "AKSNodeClass",
            "metadata": {"name": "default"},
            "spec": {},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {"template": template},
        },
        *pods,
    ):
        made.apply(obj)
    return made


def zones(made: World) -> Counter[str]:
    return Counter(node["metadata"]["labels"][ZONE] for node in made.list("Node"))


def test_without_draws_the_first_by_name_wins() -> None:
    assert Ties().among(["b", "", "a"]) == ("",)


def test_a_draw_has_a_name_and_can_be_repeated() -> None:
    first, second = (Ties(Rng(3).pick, 1) for _ in range(2))
    for ties in (first, second):
        ties.begin("default/web")
    assert [first.among("abc") for _ in range(20)] == [second.among("cba") for _ in range(20)]
    assert first.count == 20


def test_passes_differ() -> None:
    drawn = set()
    for number in range(20):
        ties = Ties(Rng(3).pick, number)
        ties.begin("default/web")
        drawn.update(ties.among("abc"))
    assert drawn == {"a", "b", "c"}


@pytest.mark.parametrize(("zones", "draws"), [(("z1",), 0), (("z1", "z2"), 1)])
@pytest.mark.parametrize("kind", ["spread", "podAffinity"])
def test_one_domain_alone_is_no_tie(kind: str, zones: tuple[str, ...], draws: int) -> None:
    """A draw is named by the pass, the pod, how often it was tried, and the number of the draw."""
    names = []

    def draw(name: str, values: Sequence[str]) -> str:
        names.append(name)
        return values[0]

    looks = {"topologySpreadConstraints": [workload.spread(ZONE, "web")]} if kind == "spread" else {}
    looks |= workload.affinity(kind, ZONE, "web") if kind != "spread" else {}
    pods = [workload.pod("web", labels={"app": "web"}, **looks)]
    pools = [workload.nodepool(requirements=[workload.need(ZONE, "In", *zones)])]
    results = workload.run(pods, pools, options=SchedulingOptions(draw=draw), number=7)
    assert results.momentary is bool(draws)
    assert set(names) == {f"7/default/web/1/{number + 1}" for number in range(len(names))}
    assert bool(names) is bool(draws)


def test_a_pod_that_was_unlucky_is_placed_later() -> None:
    tries = []
    for seed in range(12):
        made = world(seed, spread("web"))
        made.settle()
        (zone,) = zones(made)
        assert zone.startswith("eastus2-")
        tries.append(1 + sum("could not schedule pod" in line.message for line in made.recorder.lines))
    assert min(tries) == 1  # three of four zones will do
    assert max(tries) > 1


@pytest.mark.parametrize(("names", "placed", "unlucky"), [("a", [], True), ("ab", [["b"]], False)])
def test_a_pod_is_unlucky_where_another_draw_would_have_placed_it_and_its_equals_draw_for_themselves(
    names: str, placed: list[list[str]], unlucky: bool
) -> None:
    """Zone z1 is a domain, since a size that is too small is sold there. When b is in z2, there is no tie any more."""
    pods = [
        workload.pod(name, "2", labels={"app": "web"}, topologySpreadConstraints=[workload.spread(ZONE, "web", skew=2)])
        for name in names
    ]
    types = [workload.size("big", 4, zones=("z2",)), workload.size("tiny", 1, zones=("z1",))]
    bad = SchedulingOptions(draw=lambda name, values: values[0] if "/default/a/" in name else values[-1])
    results = workload.run(pods, types=types, options=bad)
    assert (workload.groups(results), [*results.errors], results.unlucky) == (placed, ["default/a"], unlucky)


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_a_pod_that_nothing_can_help_is_not_unlucky(ties: bool, draws: bool) -> None:
    looks = {"topologySpreadConstraints": [workload.spread(ZONE, "web")]} if ties else {}
    options = SchedulingOptions(draw=(lambda name, values: values[0]) if draws else None)
    results = workload.run([workload.pod("web", "64", labels={"app": "web"}, **looks)], options=options)
    assert (len(results.errors), results.unlucky) == (1, False)


def test_a_pod_that_no_draw_can_help_is_not_waited_for() -> None:
    made = world(0, spread("web", cpu="64"))
    assert made.settle().seconds < 60
    assert not made.list("Node")


def test_the_same_seed_gives_the_same_world() -> None:
    def snapshot(seed: int) -> Counter[str]:
        made = world(seed, *(spread(f"web-{number}") for number in range(4)))
        made.settle()
        return zones(made)

    assert [snapshot(seed) for seed in (1, 2, 3)] == [snapshot(seed) for seed in (1, 2, 3)]
    # zone 0 counts as an empty domain for ever, so that the others may have one pod each
    assert snapshot(1) == {"eastus2-1": 1, "eastus2-2": 1, "eastus2-3": 1}
