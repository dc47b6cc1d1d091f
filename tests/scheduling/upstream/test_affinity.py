"""Pod affinity, pod anti-affinity, taints. Source: core pkg/controllers/provisioning/scheduling/topology_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import ARCH, CAPACITY, HOST, ZONE, ZONES
from tests.scheduling.upstream.objects import affinity, near, need, nodepool, pod, pods, spread, taint, tolerate
from tests.scheduling.upstream.trial import Plan, Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

TEST = {"test": "test"}
S2 = {"security": "s2"}
ANY = nodepool("default", need(CAPACITY, "Exists"))
TWO_CPUS = {"cpu": "2"}


def to(key: str, **more: Any) -> Json:
    """Rules that want to be near pods of S2."""
    return affinity(near=[near(key, S2, **more)])


def away(key: str) -> Json:
    """Rules that want to be apart from pods of S2."""
    return affinity(apart=[near(key, S2)])


def ten_hosts() -> list[Json]:
    """Ten pods that need a Node each."""
    return pods(10, "spread", labels=TEST, topologySpreadConstraints=[spread(HOST, TEST)])


def together(plan: Plan, first: str, second: str) -> bool:
    return plan.placed[f"{first}"] == plan.placed[f"{second}"]


def test_no_terms(trial: NewTrial) -> None:
    """should schedule a pod with empty pod affinity and anti-affinity"""
    hard = "requiredDuringSchedulingIgnoredDuringExecution"
    plan = trial(ANY).provision(pod(affinity={"podAffinity": {hard: []}, "podAntiAffinity": {hard: []}}))
    assert len(plan.claims) == 1


def test_one_host(trial: NewTrial) -> None:
    """should respect pod affinity (hostname)"""
    plan = trial(ANY).provision(*ten_hosts(), pod("target", labels=S2), pod("follower", affinity=to(HOST)))
    assert together(plan, "target", "follower")


@pytest.mark.parametrize(
    ("rules", "same"),
    [
        pytest.param(to(ARCH), True, id="should respect pod affinity (arch)"),
        pytest.param(away(ARCH), False, id="should not violate pod anti-affinity (arch)"),
    ],
)
def test_one_architecture(trial: NewTrial, rules: Json, same: bool) -> None:
    """The spread by host keeps them on two Nodes."""
    cluster = trial(ANY)
    fields = {"labels": S2, "topologySpreadConstraints": [spread(HOST, S2)]}
    cluster.provision(
        pod("first", requests=TWO_CPUS, nodeSelector={ARCH: "arm64"}, **fields),
        pod("second", requests={"cpu": "1"}, affinity=rules, **fields),
    )
    assert cluster.node("first") is not cluster.node("second")
    assert (cluster.labels("first")[ARCH] == cluster.labels("second")[ARCH]) is same


@pytest.mark.parametrize(
    ("key", "needs", "zones"),
    [
        pytest.param(HOST, [], ZONES, id="should respect self pod affinity (hostname)"),
        pytest.param(ZONE, [], ZONES, id="should respect self pod affinity (zone)"),
        pytest.param(
            ZONE,
            [need(ZONE, "In", "test-zone-3")],
            ("test-zone-3",),
            id="should respect self pod affinity (zone w/ constraint)",
        ),
    ],
)
def test_to_each_other(trial: NewTrial, key: str, needs: list[Json], zones: tuple[str, ...]) -> None:
    cluster = trial(ANY)
    plan = cluster.provision(*pods(3, labels=S2, affinity=to(key), needs=needs))
    assert len(plan.claims) == 1
    assert cluster.labels("pod-00")[ZONE] in zones


def test_to_each_other_and_the_host_is_full(trial: NewTrial) -> None:
    """should respect self pod affinity for first empty topology domain only (hostname)"""
    cluster = trial(ANY)
    plan = cluster.provision(*pods(10, "first", labels=S2, affinity=to(HOST)))
    assert [len(group) for group in plan.groups()] == [5]
    assert len(plan.answer["errors"]) == 5
    later = cluster.provision(*pods(10, "later", labels=S2, affinity=to(HOST)))
    assert (later.claims, later.existing()) == ([], {})


def test_to_a_host_in_another_zone(trial: NewTrial) -> None:
    """should respect self pod affinity for first empty topology domain only (hostname/constrained zones)"""
    cluster = trial(ANY)
    cluster.provision(pod("first", labels=S2, affinity=to(HOST), nodeSelector={ZONE: "test-zone-1"}))
    elsewhere = [need(ZONE, "In", "test-zone-2", "test-zone-3")]
    plan = cluster.provision(*pods(10, labels=S2, affinity=to(HOST), needs=elsewhere))
    assert (plan.claims, plan.existing()) == ([], {})


def test_two_zones_of_one_affinity(trial: NewTrial) -> None:
    """should allow two nodes to be created when two pods with matching affinities have incompatible selectors"""
    cluster = trial(ANY)
    wanted = ("test-zone-2", "test-zone-3")
    cluster.provision(*(pod(zone, labels=S2, affinity=to(ZONE), needs=[need(ZONE, "In", zone)]) for zone in wanted))
    assert [cluster.labels(zone)[ZONE] for zone in wanted] == list(wanted)


def test_a_preferred_neighbour_that_does_not_exist(trial: NewTrial) -> None:
    """should allow violation of preferred pod affinity"""
    wish = affinity(rather_near=[(50, near(HOST, S2))])
    cluster = trial(ANY)
    cluster.provision(*ten_hosts(), pod("wish", affinity=wish))
    assert cluster.scheduled("wish")


def test_preferably_apart(trial: NewTrial) -> None:
    """should allow violation of preferred pod anti-affinity"""
    wish = affinity(rather_apart=[(50, near(ZONE, TEST))])
    everywhere = pods(3, "zone", labels=TEST, topologySpreadConstraints=[spread(ZONE, TEST)])
    plan = trial(ANY).provision(*everywhere, *pods(10, "wish", affinity=wish))
    assert not plan.answer["errors"]


def test_a_preferred_neighbour_against_spread(trial: NewTrial) -> None:
    """should allow violation of a pod affinity preference with a conflicting required constraint"""
    wish = affinity(rather_near=[(50, near(HOST, S2))])
    rules = {"topologySpreadConstraints": [spread(HOST, TEST)], "affinity": wish}
    cluster = trial(ANY)
    plan = cluster.provision(*pods(3, labels=TEST, **rules), pod("target", labels=S2))
    assert not plan.answer["errors"]
    assert cluster.skew(HOST, TEST) == [1, 1, 1]


@pytest.mark.parametrize("order", [("apart", "target"), ("target", "zapart")])
def test_apart_by_host(trial: NewTrial, order: tuple[str, str]) -> None:
    """should separate nodes using simple pod anti-affinity on hostname"""
    waiting = [pod(name, labels=S2) if name == "target" else pod(name, affinity=away(HOST)) for name in order]
    assert trial(ANY).provision(*waiting).groups() == [[order[0]], [order[1]]]


def in_every_zone(**fields: Any) -> list[Json]:
    return [pod(zone, requests=TWO_CPUS, nodeSelector={ZONE: zone}, **fields) for zone in ZONES]


WISH = affinity(rather_apart=[(10, near(ZONE, S2))])


@pytest.mark.parametrize(
    ("first", "last", "fits"),
    [
        pytest.param(
            in_every_zone(labels=S2),
            pod("last", affinity=away(ZONE)),
            False,
            id="should not violate pod anti-affinity on zone",
        ),
        pytest.param(
            in_every_zone(affinity=away(ZONE)),
            pod("last", labels=S2),
            False,
            id="should not violate pod anti-affinity on zone (inverse)",
        ),
        pytest.param(
            in_every_zone(affinity=WISH),
            pod("last", labels=S2),
            True,
            id="should violate preferred pod anti-affinity on zone (inverse)",
        ),
        pytest.param(
            [pod("first", labels=S2, requests=TWO_CPUS)],
            pod("last", affinity=away(ZONE)),
            False,
            id="should not violate pod anti-affinity on zone (other schedules first)",
        ),
    ],
)
def test_apart_by_zone(trial: NewTrial, first: list[Json], last: Json, fits: bool) -> None:
    """The larger pods come first."""
    cluster = trial(ANY)
    cluster.provision(*first, last)
    assert all(cluster.scheduled(each["metadata"]["name"]) for each in first)
    assert cluster.scheduled("last") is fits


@pytest.mark.parametrize(
    ("rules", "fits"),
    [
        pytest.param(away(ZONE), False, id="should not violate pod anti-affinity on zone (inverse w/existing nodes)"),
        pytest.param(WISH, True, id="should violate preferred pod anti-affinity on zone (inverse w/existing nodes)"),
    ],
)
def test_apart_by_zone_from_pods_that_run(trial: NewTrial, rules: Json, fits: bool) -> None:
    cluster = trial(ANY)
    cluster.provision(*in_every_zone(affinity=rules))
    cluster.provision(pod("last", labels=S2))
    assert cluster.scheduled("last") is fits


def test_a_zone_that_is_not_known_yet(trial: NewTrial) -> None:
    """should not violate pod anti-affinity on zone (Schrödinger)"""
    cluster = trial(ANY)
    cluster.provision(pod("anywhere", requests=TWO_CPUS, affinity=away(ZONE)), pod("last", labels=S2))
    assert not cluster.scheduled("last")
    cluster.provision()
    assert cluster.labels("anywhere")[ZONE] != cluster.labels("last")[ZONE]


def test_zones_one_after_the_other(trial: NewTrial) -> None:
    """should support pod anti-affinity with a zone topology: one round for each zone, and then none"""
    cluster = trial(ANY)
    for turn, zones in enumerate(([1], [1, 1], [1, 1, 1], [1, 1, 1])):
        cluster.provision(*pods(3, f"turn-{turn}", labels=S2, affinity=away(ZONE)))
        assert cluster.zones(S2) == zones
        cluster.drop_waiting()


def test_to_nobody(trial: NewTrial) -> None:
    """should not schedule pods with affinity to a non-existent pod"""
    plan = trial(ANY).provision(*pods(10, affinity=to(ZONE)))
    assert not plan.claims
    assert len(plan.answer["errors"]) == 10


def test_to_a_zone_that_is_not_known_yet(trial: NewTrial) -> None:
    """should support pod affinity with zone topology (unconstrained target)"""
    cluster = trial(ANY)
    plan = cluster.provision(*pods(10, affinity=to(ZONE)), pod("target", labels=S2))
    assert plan.groups() == [["target"]]
    cluster.provision()
    assert cluster.zones({}) == [11]


def test_to_a_zone_that_is_known(trial: NewTrial) -> None:
    """should support pod affinity with zone topology (constrained target)"""
    cluster = trial(ANY)
    target = pod("target", labels=S2, needs=[need(ZONE, "In", "test-zone-1")])
    cluster.provision(*pods(10, affinity=to(ZONE)), target)
    assert cluster.zones({}) == [11]


CHAIN = ("db", "web", "cache", "ui")


@pytest.mark.parametrize("names", [CHAIN, CHAIN[::-1], ("cache", "db", "ui", "web")])
def test_a_chain(trial: NewTrial, names: tuple[str, ...]) -> None:
    """should handle multiple dependent affinities, in whatever order the pods come"""
    waiting = []
    for place, name in enumerate(names):
        before = CHAIN[CHAIN.index(name) - 1] if name != CHAIN[0] else ""
        rules = {"affinity": affinity(near=[near(HOST, {"type": before, "spread": "spread"})])} if before else {}
        waiting.append(pod(f"{place}-{name}", labels={"type": name, "spread": "spread"}, **rules))
    plan = trial(ANY).provision(*waiting)
    assert [len(group) for group in plan.groups()] == [4]


def test_a_chain_without_end(trial: NewTrial) -> None:
    """should fail to schedule pods with unsatisfiable dependencies"""
    rules = affinity(near=[near(HOST, {"type": "web"})])
    plan = trial(ANY).provision(pod(labels={"type": "db"}, affinity=rules))
    assert plan.error("pod").startswith("unsatisfiable topology constraint for pod affinity")


@pytest.mark.parametrize(
    ("more", "found"),
    [
        pytest.param({}, False, id="should filter pod affinity topologies by namespace, no matching pods"),
        pytest.param(
            {"namespaces": ["other"]},
            True,
            id="should filter pod affinity topologies by namespace, matching pods namespace list",
        ),
        pytest.param(
            {"namespaceSelector": {}},
            True,
            id="should filter pod affinity topologies by namespace, empty namespace selector",
        ),
    ],
)
def test_namespaces(trial: NewTrial, more: Json, found: bool) -> None:
    namespaces = [{"metadata": {"name": name, "labels": {"foo": "bar"}}} for name in ("default", "other")]
    cluster = trial(ANY, objects={"namespaces": namespaces})
    target = pod("target", labels=S2, namespace="other")
    plan = cluster.provision(*ten_hosts(), target, pod("follower", affinity=to(HOST, **more)))
    assert ("follower" in plan.placed) is found
    assert not found or plan.placed["follower"] == plan.placed["other/target"]


OWN = taint("test-key", "test-value")


@pytest.mark.parametrize(
    ("tolerations", "fits"),
    [
        ([tolerate("test-key", effect="NoSchedule")], True),
        ([tolerate("test-key", "test-value", "NoSchedule")], True),
        ([{"operator": "Exists", "effect": "NoSchedule"}], True),
        ([], False),
        ([tolerate("invalid")], False),
        ([{"key": "test-key", "operator": "Equal", "effect": "NoSchedule"}], False),
    ],
)
def test_taints_of_a_nodepool(trial: NewTrial, tolerations: list[Json], fits: bool) -> None:
    """should taint nodes with NodePool taints; should schedule pods that tolerate NodePool constraints"""
    cluster = trial(nodepool("default", need(CAPACITY, "Exists"), taints=[OWN]))
    cluster.provision(pod(tolerations=tolerations))
    assert cluster.scheduled("pod") is fits
    assert not fits or cluster.node("pod")["spec"]["taints"] == [OWN]


def test_tolerations_make_no_taints(trial: NewTrial) -> None:
    """should not generate taints for OpExists"""
    cluster = trial(ANY)
    cluster.provision(pod(tolerations=[tolerate("test-key", effect="NoExecute")]))
    assert cluster.node("pod")["spec"]["taints"] == []


def test_startup_taints_need_no_toleration(trial: NewTrial) -> None:
    """should provision nodes with taints and schedule pods if the taint is only a startup taint"""
    cluster = trial(nodepool(startup=[OWN]))
    cluster.provision(pod())
    assert cluster.node("pod")["spec"]["taints"] == [OWN]
