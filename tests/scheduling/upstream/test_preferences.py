"""Preferences that give way one at a time, or do not count. Source: core scheduling/suite_test.go, provisioning/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import HOST, TYPE, ZONE
from tests.scheduling.upstream.objects import affinity, near, need, nodepool, pod, pods, spread, taint
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

IGNORE = {"preferencePolicy": "Ignore"}
FOO = {"app": "foo"}


def zone(name: str, operator: str = "In") -> Json:
    return need(ZONE, operator, name)


TWO_WISHES = affinity(weighted=[(1, zone("invalid")), (1, need(TYPE, "In", "invalid"))])
BOTH_ZONES = nodepool("default", need(ZONE, "In", "test-zone-1", "test-zone-2"))

ONE_POD: list[tuple[str, Json, Json, str | None]] = [
    # upstream's name, NodePool, affinity, zone of the Node (empty: any, None: it stays pending)
    (
        "should not relax the final term",
        nodepool("default", zone("test-zone-1"), need(TYPE, "In", "default-instance-type")),
        affinity(terms=[[zone("invalid")]]),
        None,
    ),
    (
        "should relax multiple terms",
        nodepool(),
        affinity(terms=[[zone("invalid")], [zone("invalid")], [zone("test-zone-1")], [zone("test-zone-2")]]),
        "test-zone-1",  # the last alternative is never reached
    ),
    ("should relax all terms", nodepool(), TWO_WISHES, ""),
    (
        "should relax to use lighter weights",
        BOTH_ZONES,
        affinity(
            weighted=[(100, need(TYPE, "In", "test-zone-3")), (50, zone("test-zone-2")), (1, zone("test-zone-1"))]
        ),
        "test-zone-2",
    ),
    (
        "should schedule even if preference is conflicting with requirement",
        nodepool(),
        affinity(terms=[[zone("test-zone-3")]], weighted=[(1, zone("test-zone-3", "NotIn"))]),
        "test-zone-3",
    ),
    (
        "should schedule even if preference requirements are conflicting",
        nodepool(),
        affinity(prefers=[zone("invalid"), zone("invalid", "NotIn")]),
        "",
    ),
]


@pytest.mark.parametrize(("pool", "rules", "found"), [pytest.param(*row[1:], id=row[0]) for row in ONE_POD])
def test_one_pod(trial: NewTrial, pool: Json, rules: Json, found: str | None) -> None:
    cluster = trial(pool)
    plan = cluster.provision(pod(affinity=rules))
    if found is None:
        assert not plan.claims
    else:
        assert cluster.labels("pod")[ZONE] == (found or cluster.labels("pod")[ZONE])


def test_taints_give_way_last(trial: NewTrial) -> None:
    """should tolerate PreferNoSchedule taint only after trying to relax Affinity terms"""
    soft = taint("foo", "bar", "PreferNoSchedule")
    cluster = trial(nodepool(taints=[soft]))
    cluster.provision(pod(affinity=TWO_WISHES))
    assert soft in cluster.node("pod")["spec"]["taints"]


@pytest.mark.parametrize("key", [ZONE, HOST])
def test_a_wish_that_nobody_fulfils(trial: NewTrial, key: str) -> None:
    """should ignore node preferredDuringSchedulingIgnoredDuringExecution affinity"""
    plan = trial().provision(
        pod("plain", requests={"cpu": "2"}), pod("wish", requests={"cpu": "1"}, prefers=[need(key, "In", "value-1")])
    )
    assert plan.groups() == [["plain", "wish"]]


def neighbours(rules: Json) -> list[Json]:
    """Two pods in one zone, one in another with more room, and a small one with `rules`."""
    there = pods(2, "there", labels={"app": "bar"}, nodeSelector={ZONE: "test-zone-2"}, requests={"cpu": "3"})
    here = pod("here", labels=FOO, nodeSelector={ZONE: "test-zone-1"}, requests={"cpu": "2"})
    return [here, *there, pod("wish", requests={"cpu": "1"}, affinity=rules)]


BY_POD = [affinity(rather_near=[(1, near(key, {"app": "bar"}))]) for key in (ZONE, HOST)]


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(affinity(prefers=[zone("test-zone-2")]), id="should ignore node affinity preferences"),
        pytest.param(BY_POD[0], id="should ignore pod affinity preferences: zone"),
        pytest.param(BY_POD[1], id="should ignore pod affinity preferences: hostname"),
    ],
)
def test_wishes_that_do_not_count(trial: NewTrial, rules: Json) -> None:
    """Without its wish the pod takes the Node with the fewest pods, of those alike the first."""
    cluster = trial(nodepool(), options=IGNORE)
    cluster.provision(*neighbours(rules))
    assert cluster.node("wish") is cluster.node("here")
    respected = trial(nodepool())
    respected.provision(*neighbours(rules))
    assert respected.labels("wish")[ZONE] == "test-zone-2"


@pytest.mark.parametrize(
    ("kind", "key", "respected"),
    [
        pytest.param("spread", ZONE, 3, id="should ignore topologySpreadConstraint preferences: zone"),
        pytest.param("spread", HOST, 5, id="should ignore topologySpreadConstraint preferences: hostname"),
        # while the zone of a NodeClaim is open, nothing can be kept apart from it by zone
        pytest.param("apart", ZONE, 1, id="should ignore pod anti-affinity preferences: zone"),
        pytest.param("apart", HOST, 5, id="should ignore pod anti-affinity preferences: hostname"),
    ],
)
def test_keeping_apart_does_not_count(trial: NewTrial, kind: str, key: str, respected: int) -> None:
    fields: Json = {"topologySpreadConstraints": [spread(key, FOO, anyway=True)]}
    if kind == "apart":
        fields = {"affinity": affinity(rather_apart=[(1, near(key, FOO))])}
    alike = pods(5, labels=FOO, **fields)
    assert len(trial(nodepool(), options=IGNORE).provision(*alike).claims) == 1
    assert len(trial(nodepool()).provision(*alike).claims) == respected
