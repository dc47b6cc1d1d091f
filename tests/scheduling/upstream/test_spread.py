"""Topology spread over zones, hosts and capacity types. Source: core pkg/controllers/provisioning/scheduling/topology_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import ARCH, CAPACITY, HOST, TYPE, ZONE, ZONES
from tests.scheduling.upstream.objects import need, nodepool, pod, pods, spread
from tests.scheduling.upstream.spreading import BY_ZONE, TEST, TWO, alike, any_pool, narrowed, zone, zoned
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

BIG = {"cpu": "1100m"}  # two of them do not fit on the smallest size


def test_unknown_keys(trial: NewTrial) -> None:
    """should ignore unknown topology keys: the pod is left alone"""
    plan = trial(any_pool()).provision(*alike(1, spread("unknown", TEST)), pod("other"))
    assert plan.groups() == [["other"]]
    assert plan.error("pod-00").startswith("unsatisfiable topology constraint for topology spread")


ONE_ROUND: list[tuple[str, list[Json], list[Json], str, list[int]]] = [
    # upstream's name, NodePools, pods, key, how many pods its domains have
    ("should not spread when a nil label selector is defined", [any_pool()], alike(2, spread(ZONE, None)), ZONE, [2]),
    ("should balance pods across zones (match labels)", [any_pool()], alike(4, BY_ZONE), ZONE, [1, 1, 2]),
    (
        "should balance pods across zones (match expressions)",
        [any_pool()],
        alike(4, {**BY_ZONE, "labelSelector": {"matchExpressions": [need("test", "In", "test")]}}),
        ZONE,
        [1, 1, 2],
    ),
    ("should respect NodePool zonal constraints", [zoned(*ZONES)], alike(4, BY_ZONE), ZONE, [1, 1, 2]),
    (
        "should respect NodePool zonal constraints (subset) with requirements",
        [zoned(*TWO)],
        alike(4, BY_ZONE),
        ZONE,
        [2, 2],
    ),
    (
        "should respect NodePool zonal constraints (subset) with labels",
        [any_pool(labels={ZONE: "test-zone-1"})],
        alike(4, BY_ZONE),
        ZONE,
        [4],
    ),
    (
        "should respect NodePool zonal constraints (subset) with requirements and labels",
        [zoned(*TWO, labels={ZONE: "test-zone-1"})],
        alike(4, BY_ZONE),
        ZONE,
        [4],
    ),
    (
        "should respect NodePool zonal constraints (subset) with labels across NodePools",
        [zoned(*TWO, labels={ZONE: "test-zone-1"}), any_pool("second", labels={ZONE: "test-zone-2"})],
        alike(4, BY_ZONE),
        ZONE,
        [2, 2],
    ),
    (
        "should respect minDomains constraints",
        [zoned(*TWO)],
        alike(3, spread(ZONE, TEST, minDomains=3)),
        ZONE,
        [1, 1],
    ),
    (
        "satisfied minDomains constraints (equal) should allow expected pod scheduling",
        [zoned(*ZONES)],
        alike(11, spread(ZONE, TEST, minDomains=3)),
        ZONE,
        [3, 4, 4],
    ),
    (
        "satisfied minDomains constraints (greater than minimum) should allow expected pod scheduling",
        [zoned(*ZONES)],
        alike(11, spread(ZONE, TEST, minDomains=2)),
        ZONE,
        [3, 4, 4],
    ),
    ("should balance pods across nodes", [any_pool()], alike(4, spread(HOST, TEST)), HOST, [1, 1, 1, 1]),
    (
        "should balance pods on the same hostname up to maxskew",
        [any_pool()],
        alike(4, spread(HOST, TEST, 4)),
        HOST,
        [4],
    ),
    ("should balance pods across capacity types", [any_pool()], alike(4, spread(CAPACITY, TEST)), CAPACITY, [2, 2]),
    (
        "should respect NodePool capacity type constraints",
        [nodepool("default", need(CAPACITY, "In", "spot", "on-demand"))],
        alike(4, spread(CAPACITY, TEST)),
        CAPACITY,
        [2, 2],
    ),
    (
        "should ignore unknown labels specified in matchLabelKeys",
        [any_pool()],
        alike(4, spread(HOST, TEST, matchLabelKeys=["test-label"])),
        HOST,
        [1, 1, 1, 1],
    ),
    (
        # the second NodePool may make nothing; the zone that only it has stays empty
        "should spread pods while respecting both constraints: ScheduleAnyway",
        [zoned(*TWO), nodepool("second", need(ZONE, "In", "test-zone-3"), limits={"cpu": "0"})],
        alike(10, BY_ZONE, spread(HOST, TEST, anyway=True)),
        HOST,
        [1, 1],
    ),
    (
        "should limit spread options by nodeSelector",
        [any_pool()],
        [
            *alike(5, BY_ZONE, nodeSelector={ZONE: "test-zone-1"}),
            *alike(10, BY_ZONE, prefix="other", nodeSelector={ZONE: "test-zone-2"}),
        ],
        ZONE,
        [5, 10],
    ),
    (
        "should limit spread options by node requirements",
        [any_pool()],
        alike(10, BY_ZONE, needs=[need(ZONE, "In", *TWO)]),
        ZONE,
        [5, 5],
    ),
    (
        "should not limit spread options by preferred node affinity",
        [any_pool()],
        alike(6, BY_ZONE, prefers=[need(ZONE, "In", *TWO)]),
        ZONE,
        [2, 2, 2],
    ),
    (
        "should limit spread options by nodeSelector: capacity type",
        [any_pool()],
        [
            *alike(5, spread(CAPACITY, TEST, anyway=True), nodeSelector={CAPACITY: "spot"}),
            *alike(5, spread(CAPACITY, TEST, anyway=True), prefix="other", nodeSelector={CAPACITY: "on-demand"}),
        ],
        CAPACITY,
        [5, 5],
    ),
]


@pytest.mark.parametrize(
    ("pools", "waiting", "key", "counts"), [pytest.param(*row[1:], id=row[0]) for row in ONE_ROUND]
)
def test_one_round(trial: NewTrial, pools: list[Json], waiting: list[Json], key: str, counts: list[int]) -> None:
    cluster = trial(*pools)
    cluster.provision(*waiting)
    assert cluster.skew(key, TEST) == counts


def test_interdependent_selectors(trial: NewTrial) -> None:
    """should handle interdependent selectors: nobody has the label that counts"""
    plan = trial(any_pool()).provision(*pods(5, topologySpreadConstraints=[spread(HOST, TEST)]))
    assert len(plan.claims) == 1


def test_a_zone_that_can_be_had_no_more(trial: NewTrial) -> None:
    """should respect NodePool zonal constraints (existing pod)"""
    cluster = trial(any_pool())
    cluster.provision(*alike(1, prefix="first", requests=BIG, nodeSelector={ZONE: "test-zone-3"}))
    narrowed(cluster, zone(*TWO))
    cluster.provision(*alike(6, BY_ZONE, requests=BIG))
    assert cluster.zones(TEST) == [1, 2, 2]


def test_only_the_fuller_zone_is_left(trial: NewTrial) -> None:
    """should schedule to the non-minimum domain if its all that's available"""
    rules = {"requests": BIG}
    cluster = trial()
    for number, name in enumerate(TWO, 1):
        narrowed(cluster, zone(name))
        cluster.provision(*alike(1, spread(ZONE, TEST, 5), prefix=name, **rules))
        assert cluster.zones(TEST) == [1] * number
    narrowed(cluster, zone("test-zone-3"))
    cluster.provision(*alike(10, spread(ZONE, TEST, 5), **rules))
    assert cluster.zones(TEST) == [1, 1, 6]


def test_a_skew_that_is_there_already(trial: NewTrial) -> None:
    """should only schedule to minimum domains if already violating max skew"""
    cluster = trial(any_pool())
    cluster.provision(*alike(9, BY_ZONE, requests=BIG))
    assert cluster.zones(TEST) == [3, 3, 3]
    for name in [name.removeprefix("default/") for name in cluster.pods]:
        if cluster.labels(name)[ZONE] != "test-zone-1":
            cluster.delete_pod(name)
    assert cluster.zones(TEST) == [3]
    cluster.provision(*alike(3, BY_ZONE, prefix="later", requests=BIG))
    assert cluster.zones(TEST) == [1, 2, 3]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param([BY_ZONE], id="should not violate max-skew when unsat = do not schedule"),
        pytest.param([], id="should not violate max-skew when unsat = do not schedule (discover domains)"),
    ],
)
def test_max_skew_holds(trial: NewTrial, first: list[Json]) -> None:
    cluster = trial(zoned("test-zone-1"))
    cluster.provision(*alike(1, *first, prefix="first", requests=BIG))
    narrowed(cluster, zone("test-zone-2", "test-zone-3"))
    plan = cluster.provision(*alike(10, BY_ZONE, requests=BIG))
    assert cluster.zones(TEST) == [1, 2, 2]
    assert len(plan.answer["errors"]) == 6


@pytest.mark.parametrize(
    ("anyway", "counts"),
    [
        pytest.param(False, [1, 2], id="should not violate max-skew when unsat = do not schedule (capacity type)"),
        pytest.param(True, [1, 5], id="should violate max-skew when unsat = schedule anyway (capacity type)"),
    ],
)
def test_capacity_types(trial: NewTrial, anyway: bool, counts: list[int]) -> None:
    rule = spread(CAPACITY, TEST, anyway=anyway)
    cluster = trial(nodepool("default", need(CAPACITY, "In", "spot")))
    cluster.provision(*alike(1, rule, prefix="first", requests=BIG))
    narrowed(cluster, need(CAPACITY, "In", "on-demand"))
    cluster.provision(*alike(5, rule, requests=BIG))
    assert cluster.skew(CAPACITY, TEST) == counts


def test_two_workloads_by_host(trial: NewTrial) -> None:
    """balance multiple deployments with hostname topology spread"""
    plan = trial(any_pool()).provision(*two_workloads("", ""))
    assert plan.groups() == [["app1-00", "app2-00"], ["app1-01", "app2-01"]]


def test_two_workloads_of_two_architectures(trial: NewTrial) -> None:
    """balance multiple deployments with hostname topology spread & varying arch"""
    plan = trial(any_pool()).provision(*two_workloads("amd64", "arm64"))
    assert [len(group) for group in plan.groups()] == [1, 1, 1, 1]


def two_workloads(*architectures: str) -> list[Json]:
    found = []
    for name, arch in zip(("app1", "app2"), architectures, strict=True):
        labels = {"app": name}
        needs = [need(ARCH, "In", arch)] if arch else []
        found += pods(2, name, labels=labels, needs=needs, topologySpreadConstraints=[spread(HOST, labels)])
    return found


def test_the_existing_pod_is_elsewhere(trial: NewTrial) -> None:
    """should balance pods across capacity-types (node required affinity constrained)"""
    cluster = trial(any_pool())
    cluster.provision(*alike(1, prefix="first", needs=[zone("test-zone-1"), need(CAPACITY, "In", "on-demand")]))
    needs = [zone("test-zone-2"), need(CAPACITY, "In", "spot")]
    cluster.provision(*alike(5, spread(CAPACITY, TEST), needs=needs))
    assert cluster.skew(CAPACITY, TEST) == [1, 5]


@pytest.mark.parametrize(
    ("key", "first", "then"),
    [
        pytest.param(CAPACITY, "on-demand", "spot", id="should balance pods across capacity-types (no constraints)"),
        pytest.param(ARCH, "amd64", "arm64", id="should balance pods across arch (no constraints)"),
    ],
)
def test_the_existing_pod_counts(trial: NewTrial, key: str, first: str, then: str) -> None:
    cluster = trial(any_pool())
    selector = {TYPE: "single-pod-instance-type"}
    cluster.provision(*alike(1, prefix="first", needs=[need(key, "In", first)], nodeSelector=selector))
    narrowed(cluster, need(key, "In", then))
    cluster.provision(*alike(5, spread(key, TEST), requests={"cpu": "2"}))
    assert cluster.skew(key, TEST) == [1, 2]
