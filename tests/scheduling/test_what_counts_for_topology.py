"""Which pods, nodes and NodePools count for a topology constraint, and what a pod still has of its constraints after some are dropped.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologygroup,topologynodefilter,topologydomaingroup}.go``.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodeclaims.candidates import Candidates
from harness.karpenter.scheduling.topology.domains import Domains
from harness.karpenter.scheduling.topology.group import AFFINITY, SPREAD, TopologyGroup
from harness.karpenter.scheduling.topology.node_filter import Alternatives, NodeFilter
from harness.kube.api.selectors import EVERYTHING
from tests.scheduling.test_topology import MOUNTED, web, zones
from tests.scheduling.workload import (
    CAPACITY,
    HOST,
    SIZES,
    VOCABULARY,
    ZONE,
    affinity,
    groups,
    need,
    node,
    nodepool,
    pod,
    run,
    spread,
)


@pytest.mark.parametrize(("selects", "expected"), [(True, {"z1": 1, "z2": 1, "z3": 1}), (False, {"z2": 3})])
def test_without_a_selector_all_running_pods_count_and_the_pod_itself_does_not(
    selects: bool, expected: dict[str, int]
) -> None:
    """TopologyListOptions lists everything for a nil selector, while LabelSelectorAsSelector selects nothing."""
    constraint = spread(ZONE, "web")
    if not selects:
        del constraint["labelSelector"]
    running = [pod(f"other-{number}", labels={"app": "other"}, on="n1") for number in range(2)]
    results = run([*running, *web(3, topologySpreadConstraints=[constraint])], nodes=[node("n1", "0")])
    assert zones(results) == expected


@pytest.mark.parametrize(("policy", "zone"), [("Honor", "z1"), ("Ignore", "z2")])
def test_pods_count_where_the_node_is_one_that_the_pod_could_go_to(policy: str, zone: str) -> None:
    """TopologyNodeFilter.MatchesRequirements."""
    first = pod("first", "1", labels={"app": "web"}, nodeSelector={ZONE: "z1", CAPACITY: "spot"})
    constraint = spread(ZONE, "web", nodeAffinityPolicy=policy)
    second = pod("second", nodeSelector={CAPACITY: "on-demand"}, topologySpreadConstraints=[constraint])
    made = {each.pods[0]["metadata"]["name"]: each for each in run([first, second]).nodeclaims}
    assert made["second"].requirements.get(ZONE).values == {zone}


@pytest.mark.parametrize(
    ("asked", "policy", "admits_all"),
    [
        ([], "Honor", True),
        (["z1"], "Honor", False),
        (["z1", ""], "Honor", True),
        (["", "z1"], "Honor", True),
        (["z1", "z2"], "Honor", False),
        (["z1"], "Ignore", True),
    ],
)
def test_a_filter_admits_all_nodes_where_one_of_its_terms_asks_for_nothing(
    asked: list[str], policy: str, admits_all: bool
) -> None:
    algebra = Algebra(VOCABULARY)
    terms = Alternatives(algebra, [algebra.from_labels({ZONE: zone} if zone else {}) for zone in asked])
    assert NodeFilter(terms, "Ignore", policy).admits_all is admits_all
    assert not NodeFilter(terms, "Honor", policy).admits_all


def test_a_new_node_counts_for_pods_that_ask_about_its_hostname() -> None:
    terms = [{"matchExpressions": [need(HOST, "Exists")]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    wishes: dict[str, Any] = {"affinity": {"nodeAffinity": required}}
    pods = web(2, on="n1", topologySpreadConstraints=[spread(ZONE, "web")], **wishes)
    results = run(pods, nodes=[node("n1")], deleting=frozenset({"n1"}))
    assert zones(results) == {"z1": 1, "z2": 1}


@pytest.mark.parametrize(("skew", "together"), [(1, False), (2, True)])
def test_a_pod_that_does_not_count_itself_goes_where_as_many_are_as_the_skew_allows(skew: int, together: bool) -> None:
    """nextDomainTopologySpread: ``count + 1 <= maxSkew`` where the pod selects itself, else ``count <= maxSkew``."""
    other = pod("other", topologySpreadConstraints=[spread(HOST, "web", skew=skew)])
    made = groups(run([*web(2, cpu="200m"), other]))
    assert made == ([["other", "web-0", "web-1"]] if together else [["other"], ["web-0", "web-1"]])


def test_hosts_without_a_selected_pod_are_ruled_out_unless_the_pod_may_be_the_first() -> None:
    group = TopologyGroup(Algebra(VOCABULARY), AFFINITY, HOST, frozenset({"default"}), {}, EVERYTHING, domains=())
    assert group.blocked_hosts(True, None) == 0
    assert group.blocked_hosts(False, None) == ~0
    group.record("n", bit=1)
    assert group.blocked_hosts(True, None) == group.blocked_hosts(False, None) == ~1
    assert group.domains == {"n": 1}


def test_hosts_with_as_many_pods_as_the_skew_are_ruled_out_for_pods_that_count_themselves() -> None:
    group = TopologyGroup(
        Algebra(VOCABULARY), SPREAD, HOST, frozenset({"default"}), {}, EVERYTHING, domains=(), max_skew=2
    )
    for ruled_out in ((0, 0), (1, 0), (1, 1)):
        group.record("n", bit=1)
        assert (group.blocked_hosts(True, None), group.blocked_hosts(False, None)) == ruled_out


def test_a_zone_of_a_nodepool_without_taints_has_no_others() -> None:
    """TopologyDomainGroup.Insert."""
    taints = [{"key": "t", "effect": "NoSchedule"}]
    pools = [
        nodepool("open", requirements=[need(ZONE, "In", "z1", "z2")]),
        nodepool("first", requirements=[need(ZONE, "In", "z2", "z3")], taints=taints),
        nodepool("second", requirements=[need(ZONE, "In", "z3")], taints=taints),
    ]
    index = CatalogIndex(SIZES, VOCABULARY)
    for ordered in (pools, pools[::-1]):
        domains = Domains(Algebra(VOCABULARY), ordered, {pool["metadata"]["name"]: index for pool in pools})
        assert domains.of(ZONE) == {"z1": [()], "z2": [()], "z3": [tuple(taints)]}


def test_a_displaced_pod_whose_volume_is_gone_is_spread_after_its_first_term_has_failed() -> None:
    terms = [{"matchExpressions": [need(ZONE, "In", zone)]} for zone in ("nowhere", "z2")]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    moved: dict[str, Any] = {"affinity": {"nodeAffinity": required}, "volumes": MOUNTED}
    (one,) = web(1, on="n1", topologySpreadConstraints=[spread(ZONE, "web")], **moved)
    results = run([one], nodes=[node("n1")], deleting=frozenset({"n1"}))
    assert (results.errors, zones(results)) == ({}, {"z2": 1})


def test_nodes_in_the_making_are_worth_a_try_where_a_constraint_alone_allows_them() -> None:
    algebra = Algebra(VOCABULARY)
    asked = [need(ZONE, "In", "z1")], [need(ZONE, "In", "z2")], [need(ZONE, "NotIn", "z2")], []
    made: list[Any] = [
        SimpleNamespace(requirements=algebra.from_node_selector(each), bit=1 << at) for at, each in enumerate(asked)
    ]
    order: Any = SimpleNamespace(by_id=made)
    topology: Any = SimpleNamespace(is_blocked=lambda shape: False, blocked=lambda groups: None)
    group = TopologyGroup(algebra, AFFINITY, ZONE, frozenset({"default"}), {}, EVERYTHING, domains=("z1", "z2", "z3"))
    group.record("z2")
    shape: Any = SimpleNamespace(
        fit=7, strict=algebra.empty, requirements=algebra.empty, groups=(group,), namespace="x", labels={}, volumes=()
    )
    candidates = Candidates(algebra, topology, order)
    assert candidates.of(shape, ()) == 0b1111
    assert candidates.of(shape, (group,)) == 0b1010
    made.append(SimpleNamespace(requirements=algebra.from_labels({ZONE: "z2"}), bit=1 << 4))
    candidates.begun(made[-1])
    assert candidates.of(shape, (group,)) == 0b11010
    topology.is_blocked = lambda shape: True
    assert candidates.of(shape, (group,)) == 0


def test_a_pod_joins_a_node_that_a_preference_kept_it_from() -> None:
    """``wants`` is repelled by one node in the making; the other would do once it no longer prefers the zone that it must not go to."""
    repels = affinity("podAntiAffinity", HOST, "a")["affinity"]["podAntiAffinity"]
    repels["requiredDuringSchedulingIgnoredDuringExecution"] += affinity("podAntiAffinity", ZONE, "b")["affinity"][
        "podAntiAffinity"
    ]["requiredDuringSchedulingIgnoredDuringExecution"]
    prefers = affinity("podAffinity", ZONE, "b", preferred=True)["affinity"]
    pods = [
        pod("b", "0", labels={"app": "b"}, on="n1"),
        pod("one", "3", labels={"app": "a"}),
        pod("other", "3", **affinity("podAntiAffinity", HOST, "a")),
        pod("wants", affinity={"podAntiAffinity": repels, **prefers}),
    ]
    results = run(pods, nodes=[node("n1", "0", zone="z1")])
    assert (results.errors, groups(results)) == ({}, [["one"], ["other", "wants"]])


def test_nodes_of_a_term_that_was_dropped_do_not_count_any_more() -> None:
    terms = [{"matchExpressions": [need("team", "In", "a")]}, {"matchExpressions": [need(CAPACITY, "In", "on-demand")]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    (one,) = web(1, affinity={"nodeAffinity": required}, topologySpreadConstraints=[spread(ZONE, "web")])
    running = pod("old", labels={"app": "web"}, on="n1")
    results = run([running, one], nodes=[node("n1", "0", labels={"team": "a", CAPACITY: "spot"})])
    assert (results.errors, zones(results)) == ({}, {"z1": 1})


def test_a_displaced_pod_whose_volume_is_gone_is_spread_when_it_is_tried_again() -> None:
    """It lacks a key until another pod brings it along; then its zone counts."""
    away = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [need("team", "NotIn", "blue")]}]
        }
    }
    spreads = {"topologySpreadConstraints": [spread(ZONE, "web")], "nodeSelector": {"team": "red"}, "volumes": MOUNTED}
    (moved,) = web(1, cpu="800m", on="n1", **spreads)
    pods = [moved, pod("first", "1"), pod("brings", "500m", affinity={"nodeAffinity": away})]
    results = run(pods, nodes=[node("n1")], deleting=frozenset({"n1"}))
    assert (results.errors, zones(results)) == ({}, {"z1": 3})


def test_tolerations_for_other_times_are_other_filters() -> None:
    """TopologyNodeFilter is part of TopologyGroup.Hash, with all fields of its tolerations."""
    tolerations = [{"key": "t", "tolerationSeconds": seconds} for seconds in (60, 61)] + [{"key": "t"}]
    assert len({NodeFilter(tolerations=(each,)).identity() for each in tolerations}) == 3
