"""A simulation is kept for others that read the same, and for no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from harness.karpenter.releases import ProviderRelease, provider
from harness.karpenter.scheduling import (
    CatalogIndexes,
    ClusterSnapshot,
    SchedulingOptions,
    SchedulingResults,
    scheduler,
)
from harness.karpenter.scheduling import simulation as simulations_module
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.simulation import Simulations
from tests.scheduling.workload import HOST, RELEASE, SIZES, ZONE, affinity, node, nodepool, pod, spread

Objects = Sequence[Mapping[str, Any]]
SLOW = SchedulingOptions(attempt_seconds=1.0)


class Cluster:
    """Looks at a cluster; ``made`` counts the simulations that were made."""

    def __init__(self, *, exact: bool = False) -> None:
        self._memory, self._indexes, self.made = ClusterMemory(exact=exact), CatalogIndexes(), 0

    def without(
        self,
        leaving: str,
        pods: Objects,
        nodes: Sequence[Objects],
        *,
        pools: Objects | None = None,
        release: ProviderRelease = RELEASE,
        options: SchedulingOptions | None = None,
        **how: Any,
    ) -> SchedulingResults:
        """What becomes of the pods on a node."""
        pools = [nodepool()] if pools is None else pools
        snapshot = ClusterSnapshot(pools, pods, [each[0] for each in nodes], [each[1] for each in nodes])
        kept: dict[str, Any] = {"memory": self._memory, "indexes": self._indexes}
        made = Simulations(snapshot, {"default": SIZES}, release=release, options=options, **kept)
        moving = [each for each in pods if each["spec"].get("nodeName") == leaving]
        return made.without([leaving], moving, settled=how.pop("settled", False), **how)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    found = Cluster()

    class Counted(scheduler.Scheduler):
        def run(self) -> None:
            found.made += 1
            super().run()

    monkeypatch.setattr(simulations_module, "Scheduler", Counted)
    return found  # type: ignore[return-value]


NODES = [node("n0", "0"), node("n1", "0"), node("n2", "2")]


def where(results: SchedulingResults) -> dict[str, list[str]]:
    """Pods by the node that takes them."""
    new = {f"new {number}": made.pods for number, made in enumerate(results.nodeclaims)}
    return {name: [each["metadata"]["name"] for each in pods] for name, pods in {**results.existing, **new}.items()}


def test_an_equal_candidate_has_the_results_with_its_own_pods(cluster: Cluster) -> None:
    pods = [pod("a", on="n0"), pod("b", "3", on="n0"), pod("c", on="n1"), pod("d", "3", on="n1")]
    first, second = (cluster.without(name, pods, NODES) for name in ("n0", "n1"))
    assert (where(first), where(second)) == ({"n2": ["a"], "new 0": ["b"]}, {"n2": ["c"], "new 0": ["d"]})
    assert cluster.made == 1


def test_a_pod_that_cannot_be_scheduled_fails_under_its_own_name(cluster: Cluster) -> None:
    pods = [pod("a", "9999", on="n0"), pod("b", "9999", on="n1")]
    errors = [dict(cluster.without(name, pods, NODES).errors) for name in ("n0", "n1")]
    assert [list(each) for each in errors] == [["default/a"], ["default/b"]]
    assert len({str(reason) for each in errors for reason in each.values()}) == 1
    assert cluster.made == 1


BESIDE = [pod("a", on="n0"), pod("m", "1", on="n2")]
ZONED = [pod("a", on="n0", labels={"app": "x"}, topologySpreadConstraints=[spread(ZONE, "x")])]
REPELLED = [pod("a", on="n0", labels={"app": "x"})]


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        pytest.param(BESIDE, BESIDE[:1], 2, id="a node with room has more of it"),
        pytest.param(BESIDE, [*BESIDE, pod("z", "1", on="n1")], 1, id="a pod on a node without room"),
        pytest.param(BESIDE, [*BESIDE, pod("z", "1")], 2, id="a pod that is pending"),
        pytest.param(ZONED, [*ZONED, pod("z", "0", on="n1", labels={"app": "x"})], 2, id="a pod that spreads"),
        pytest.param(ZONED, [*ZONED, pod("z", "0", on="n1", labels={"app": "y"})], 1, id="a pod that does not count"),
        pytest.param(
            REPELLED,
            [*REPELLED, pod("z", "0", on="n1", **affinity("podAntiAffinity", HOST, "x"))],
            2,
            id="a pod that repels",
        ),
    ],
)
def test_it_is_kept_while_what_it_read_is_the_same(
    cluster: Cluster, before: Objects, after: Objects, made: int
) -> None:
    nodes = [node("n0", "0"), node("n1", "0"), node("n2", "3")]
    for pods in (before, after):
        kept, exact = (each.without("n0", pods, nodes) for each in (cluster, Cluster(exact=True)))
        assert where(kept) == where(exact)
    assert cluster.made - 2 == made  # two of them are those of the exact clusters


@pytest.mark.parametrize(("cpu", "made"), [("2", 1), ("4", 2)])
def test_nodes_that_give_back_other_limits_are_no_equals(cluster: Cluster, cpu: str, made: int) -> None:
    pools = [nodepool(limits={"cpu": "100"})]
    room = {"cpu": cpu, "pods": "0"}
    other = node("n1", "0")
    other = [{**other[0], "status": {"capacity": room, "allocatable": room}}, other[1]]
    first = node("n0", "0")
    first = [
        {**first[0], "status": {"capacity": {"cpu": "2", "pods": "0"}, "allocatable": {"cpu": "2", "pods": "0"}}},
        first[1],
    ]
    for name in ("n0", "n1"):
        cluster.without(name, [pod("a", on="n0"), pod("b", on="n1")], [first, other], pools=pools)
    assert cluster.made == made


def test_what_did_not_come_to_its_end_is_not_kept(cluster: Cluster) -> None:
    pods = [pod("a", on="n0"), pod("b", on="n0")]
    assert cluster.without("n0", pods, NODES, options=SLOW, time_limit=0.5).timed_out
    assert not cluster.without("n0", pods, NODES, options=SLOW).timed_out
    assert cluster.without("n0", pods, NODES, options=SLOW, time_limit=0.5).timed_out, "two seconds are too many"
    assert cluster.made == 3
    assert cluster.without("n0", pods, NODES, options=SLOW, time_limit=2.5).seconds == 2.0
    assert cluster.made == 3


def test_with_default_spread_nothing_is_kept(cluster: Cluster) -> None:
    options = SchedulingOptions(default_spread=({"maxSkew": 1},))
    for _ in range(2):
        cluster.without("n0", [pod("a", on="n0")], NODES, release=provider("next"), options=options)
    assert cluster.made == 2


def settling(machine: Objects) -> Objects:
    """The machine, whose last pod has come just now."""
    made, claim = machine
    since = "2026-01-01T00:00:00Z"
    initialized = {"type": "Initialized", "status": "True", "lastTransitionTime": since}
    return [made, {**claim, "status": {**claim["status"], "conditions": [initialized], "lastPodEventTime": since}}]


def test_a_pod_that_needs_a_place_anyway_takes_what_settles_only_when_another_was_there_first(cluster: Cluster) -> None:
    """Core ``scheduling/scheduler.go`` addToExistingNode: nodes under consolidateAfter take pending pods."""
    nodes = [node("n0", "0"), node("n1", "0"), node("ready", "1"), settling(node("settles", "1"))]
    pools = [nodepool(disruption={"consolidateAfter": "1h"})]
    pods = [pod("m", "1"), pod("a", "1", on="n0"), pod("z", "1", on="n1")]
    for name, overflow in (("n0", False), ("n1", True), ("n0", False)):
        assert bool(cluster.without(name, pods, nodes, pools=pools, settled=True).nodeclaims) is overflow


@pytest.mark.parametrize("exact", ["", "1"])
def test_the_plain_way_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, exact: str) -> None:
    monkeypatch.setenv("HARNESS_EXACT", exact)
    assert ClusterMemory().exact is bool(exact)


def test_a_node_that_comes_is_looked_at_also_where_there_was_none(cluster: Cluster) -> None:
    pods = [pod("a", on="n0")]
    assert where(cluster.without("n0", pods, NODES[:1])) == {"new 0": ["a"]}
    assert where(cluster.without("n0", pods, [NODES[0], NODES[2]])) == {"n2": ["a"]}
