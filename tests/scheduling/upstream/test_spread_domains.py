"""Who counts for a topology spread, several constraints together, and which domains there are.

Source: core pkg/controllers/provisioning/scheduling/topology_test.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import CAPACITY, HOST, ZONE, ZONES
from tests.scheduling.upstream.objects import need, nodepool, pod, pods, spread, taint, tolerate
from tests.scheduling.upstream.spreading import ANY, BY_ZONE, TEST, TWO, alike, any_pool, narrowed, zone
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

BIG = {"cpu": "1100m"}  # two of them do not fit on the smallest size


@pytest.mark.parametrize(
    ("key", "values", "counts"),
    [
        pytest.param(ZONE, TWO, [1, 2, 2], id="zone"),
        pytest.param(CAPACITY, ("spot", "on-demand"), [2, 3], id="capacity type"),
    ],
)
def test_who_counts(trial: NewTrial, key: str, values: tuple[str, str], counts: list[int]) -> None:
    """should only count running/scheduled pods with matching labels scheduled to nodes with a corresponding domain"""
    cluster = trial(any_pool(), objects={"namespaces": [{"metadata": {"name": name}} for name in ("default", "wrong")]})
    for name, domain in (("first", values[0]), ("second", values[1]), ("third", "")):
        labels = {HOST: name, **({key: domain} if domain else {})}
        cluster.nodes[name] = {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {}}
    going = {"deletionTimestamp": "2026-01-01T00:00:10Z", "finalizers": ["example.com/wait"]}
    bound = [
        pod("without-labels", on="first"),
        pod("without-domain", labels=TEST, on="third"),
        pod("elsewhere", labels=TEST, on="first", namespace="wrong"),
        pod("going", labels=TEST, on="first", metadata=going),
        pod("counts-1", labels=TEST, on="first"),
        pod("counts-2", labels=TEST, on="first"),
        pod("counts-3", labels=TEST, on="second"),
    ]
    for phase in ("Failed", "Succeeded"):
        bound.append({**pod(phase.lower(), labels=TEST, on="first"), "status": {"phase": phase}})
    cluster.pods.update({f"{each['metadata']['namespace']}/{each['metadata']['name']}": each for each in bound})
    pending = {
        **pod("pending", labels=TEST),
        "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]},
    }
    cluster.pods["default/pending"] = pending
    cluster.provision(*alike(2, spread(key, TEST)))
    assert cluster.skew(key, TEST) == counts


@pytest.mark.parametrize(
    ("key", "rounds"),
    [
        pytest.param(
            ZONE,
            [(2, [1, 1]), (3, [1, 2, 2]), (5, [3, 3, 4]), (11, [7, 7, 7])],
            id="should spread pods while respecting both constraints (hostname and zonal)",
        ),
        pytest.param(
            CAPACITY,
            [(2, [1, 1]), (3, [2, 3]), (5, [5, 5]), (11, [10, 11])],
            id="should spread pods while respecting both constraints: capacity type",
        ),
    ],
)
def test_a_domain_and_hosts(trial: NewTrial, key: str, rounds: list[tuple[int, list[int]]]) -> None:
    cluster = trial(any_pool())
    for number, (count, counts) in enumerate(rounds):
        cluster.provision(*alike(count, spread(key, TEST), spread(HOST, TEST, 3), prefix=f"round-{number}"))
        assert cluster.skew(key, TEST) == counts
        assert max(cluster.skew(HOST, TEST)) <= 3


def test_zones_and_capacity_types(trial: NewTrial) -> None:
    """should spread pods while respecting both constraints (zonal and capacity type): no spot in one zone"""
    cluster = trial(any_pool())
    for number, (count, kinds, zones) in enumerate(((2, 1, 1), (3, 3, 2), (3, 5, 4), (11, 11, 7))):
        cluster.provision(*alike(count, spread(CAPACITY, TEST), BY_ZONE, prefix=f"round-{number}"))
        assert max(cluster.skew(CAPACITY, TEST)) <= kinds
        assert max(cluster.zones(TEST)) <= zones


def test_zones_capacity_types_and_hosts(trial: NewTrial) -> None:
    """should spread pods while respecting all constraints"""
    cluster = trial(any_pool(), types="assorted")
    rules = [spread(CAPACITY, TEST), spread(ZONE, TEST, 2), spread(HOST, TEST, 3)]
    for count in (1, 2, 3, 5, 8, 13):
        plan = cluster.provision(*alike(count, *rules, prefix=f"round-{count:02}"))
        assert not plan.answer["errors"]
        for key, most, domains in ((CAPACITY, 1, 2), (ZONE, 2, 3), (HOST, 3, 0)):
            counts = cluster.skew(key, TEST)
            lowest = counts[0] if domains and len(counts) == domains else 0
            assert counts[-1] - lowest <= most


LEVEL = "capacity.spread.4-1"


def test_values_of_nodepools(trial: NewTrial) -> None:
    """should balance pods across NodePool requirements: four values for spot, one for on-demand"""
    cluster = trial(
        nodepool("spot", need(CAPACITY, "In", "spot"), need(LEVEL, "In", "2", "3", "4", "5")),
        nodepool("on-demand", need(CAPACITY, "In", "on-demand"), need(LEVEL, "In", "1")),
    )
    cluster.provision(*alike(20, spread(LEVEL, TEST)))
    assert cluster.skew(LEVEL, TEST) == [4, 4, 4, 4, 4]
    assert cluster.count(CAPACITY, TEST) == {"on-demand": 4, "spot": 16}


def test_match_label_keys(trial: NewTrial) -> None:
    """should support matchLabelKeys: each value is spread by itself"""
    rule = spread(HOST, TEST, matchLabelKeys=["test-label"])
    cluster = trial(any_pool())
    waiting = [
        each
        for value in ("a", "b")
        for each in pods(2, value, labels={**TEST, "test-label": value}, topologySpreadConstraints=[rule])
    ]
    cluster.provision(*waiting)
    assert cluster.skew(HOST, TEST) == [2, 2]


LABEL = "fake-label"


def foreign_nodes(cluster: Trial, labels: Json, taints: list[Json]) -> None:
    """Two small Nodes of somebody else, in domains of their own."""
    for name in ("foo", "bar"):
        room = {"cpu": "100m"}
        cluster.nodes[name] = {
            "metadata": {"name": name, "labels": {HOST: name, LABEL: name, **labels}},
            "spec": {"taints": taints},
            "status": {"capacity": room, "allocatable": room},
        }


@pytest.mark.parametrize(
    ("policy", "labels", "taints", "counts"),
    [
        pytest.param(
            {"nodeTaintsPolicy": "Ignore"},
            {},
            [taint("taintname", "taintvalue")],
            [1],
            id="should balance pods across a label (NodeTaintsPolicy=ignore)",
        ),
        pytest.param(
            {"nodeTaintsPolicy": "Honor"},
            {},
            [taint("taintname", "taintvalue")],
            [5],
            id="should balance pods across a label (NodeTaintsPolicy=honor)",
        ),
        pytest.param(
            {"nodeAffinityPolicy": "Ignore"},
            {"selector": "mismatch"},
            [],
            [1],
            id="should balance pods across a label (NodeAffinityPolicy=ignore)",
        ),
        pytest.param(
            {"nodeAffinityPolicy": "Honor"},
            {"selector": "mismatch"},
            [],
            [5],
            id="should balance pods across a label (NodeAffinityPolicy=honor)",
        ),
    ],
)
def test_policies(trial: NewTrial, policy: Json, labels: Json, taints: list[Json], counts: list[int]) -> None:
    """Nodes that the pods cannot run on are domains, or they are not."""
    cluster = trial(any_pool(labels={LABEL: "baz", "selector": "value"}))
    foreign_nodes(cluster, labels, taints)
    selector = {"nodeSelector": {"selector": "value"}} if labels else {}
    cluster.provision(*alike(5, spread(LABEL, TEST, **policy), requests={"cpu": "1"}, **selector))
    assert cluster.skew(LABEL, TEST) == counts


@pytest.mark.parametrize(
    ("policy", "counts"),
    [
        pytest.param(
            "Ignore",
            [1],
            id="should balance pods across a label when discovered from the nodepool (NodeTaintsPolicy=ignore)",
        ),
        pytest.param(
            "Honor",
            [2],
            id="should balance pods across a label when discovered from the nodepool (NodeTaintsPolicy=honor)",
        ),
    ],
)
def test_domains_of_nodepools_with_taints(trial: NewTrial, policy: str, counts: list[int]) -> None:
    cluster = trial(
        any_pool("open", ANY, need(LABEL, "In", "foo")),
        any_pool("tainted", ANY, need(LABEL, "In", "bar"), taints=[taint("taint-key", "taint-value")]),
    )
    cluster.provision(*alike(2, spread(LABEL, TEST, nodeTaintsPolicy=policy)))
    assert cluster.skew(LABEL, TEST) == counts


def test_domains_that_nodepools_share(trial: NewTrial) -> None:
    """should balance pods across a label when mutually exclusive NodePools (by taints) share domains (NodeTaintsPolicy=honor)"""
    pools, waiting = [], []
    for number, domains in enumerate((("foo", "bar"), ("foo", "baz")), 1):
        own = taint("taint-key", f"nodepool-{number}")
        pools.append(any_pool(f"pool-{number}", ANY, need(LABEL, "In", *domains), taints=[own]))
        tolerations = [tolerate("taint-key", own["value"], "NoSchedule")]
        rule = spread(LABEL, TEST, nodeTaintsPolicy="Honor")
        waiting += alike(2 * number, rule, prefix=f"of-{number}", tolerations=tolerations)
    cluster = trial(*pools)
    cluster.provision(*waiting)
    counts = cluster.count(LABEL, TEST)
    assert sorted(counts.values()) == [1, 2, 3]
    assert counts["bar"] == 1


def test_zones_that_affinity_leaves(trial: NewTrial) -> None:
    """should limit spread options by required node affinity"""
    cluster = trial(any_pool())
    cluster.provision(*alike(6, BY_ZONE, prefix="first", needs=[zone(*TWO)]))
    assert cluster.zones(TEST) == [3, 3]
    narrowed(cluster, zone(*ZONES))
    cluster.provision(*alike(1, BY_ZONE, prefix="second", needs=[zone("test-zone-2", "test-zone-3")]))
    assert cluster.zones(TEST) == [1, 3, 3]  # the empty zone, since that makes the skew smaller
    cluster.provision(*alike(5, BY_ZONE, prefix="third"))
    assert cluster.zones(TEST) == [4, 4, 4]


def test_capacity_types_that_affinity_leaves(trial: NewTrial) -> None:
    """should limit spread options by node affinity (capacity type)"""
    rule = spread(CAPACITY, TEST)
    cluster = trial(any_pool())
    cluster.provision(*alike(3, rule, prefix="first", needs=[need(CAPACITY, "In", "spot")]))
    assert cluster.skew(CAPACITY, TEST) == [3]
    cluster.provision(*alike(1, rule, prefix="second", needs=[need(CAPACITY, "In", "on-demand", "spot")]))
    assert cluster.skew(CAPACITY, TEST) == [1, 3]
    cluster.provision(*alike(5, rule, prefix="third"))
    assert cluster.skew(CAPACITY, TEST) == [4, 5]
