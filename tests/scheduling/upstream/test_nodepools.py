"""Which NodePool is taken, and what it has to allow: requirements, minValues.

Source: core pkg/controllers/provisioning/suite_test.go, scheduling/suite_test.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import (
    ARCH,
    CAPACITY,
    HOST,
    TYPE,
    ZONE,
    ZONES,
    instance_type,
    offering,
)
from tests.scheduling.upstream.objects import affinity, near, need, nodepool, pod, pods, taint
from tests.scheduling.upstream.trial import Plan, Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

APART = {"labels": {"app": "foo"}, "affinity": affinity(apart=[near(HOST, {"app": "foo"})])}


WEIGHTS = [nodepool("plain"), nodepool("light", weight=20), nodepool("heavy", weight=100)]
SOFT = nodepool("soft", taints=[taint("foo", "bar", "PreferNoSchedule")])
NAME = "karpenter.sh/nodepool"


@pytest.mark.parametrize(
    ("pools", "waiting", "chosen"),
    [
        pytest.param(
            [nodepool("a"), nodepool("b")],
            pod(nodeSelector={NAME: "a"}),
            "a",
            id="should schedule to an explicitly selected NodePool",
        ),
        pytest.param(
            [nodepool("a", labels={"foo": "bar"}), nodepool("b")],
            pod(nodeSelector={"foo": "bar"}),
            "a",
            id="should schedule to a NodePool by labels",
        ),
        pytest.param(
            [SOFT, nodepool("plain")],
            pod(),
            "plain",
            id="should not match NodePool with PreferNoSchedule taint when other NodePool match",
        ),
        pytest.param(WEIGHTS, pod(), "heavy", id="should schedule to the nodepool with the highest priority always"),
        pytest.param(
            WEIGHTS,
            pod(nodeSelector={NAME: "plain"}),
            "plain",
            id="should schedule to explicitly selected nodepool even if other nodePools are higher priority",
        ),
        pytest.param(
            [nodepool("dynamic"), nodepool("static", replicas=1, limits=None)],
            pod(),
            "dynamic",
            id="should still provision dynamic NodeClaims when there are both Static and Dynamic NodePools",
        ),
    ],
)
def test_which_nodepool(trial: NewTrial, pools: list[Json], waiting: Json, chosen: str) -> None:
    plan = trial(*pools).provision(waiting)
    assert [claim["nodepool"] for claim in plan.claims] == [chosen]


def spot(name: str, *zones: str) -> Json:
    ways = [offering("spot", zone, 0.52 + place / 50) for place, zone in enumerate(zones)]
    return instance_type(name, arch="arm64", systems=("linux",), offerings=ways)


BY_TYPE = [spot("type-1", "test-zone-1"), spot("type-2", "test-zone-2")]
BY_ZONE = [spot("type-1", "test-zone-1", "test-zone-2")]
TYPES = need(TYPE, "In", "type-1", "type-2", "type-3", minValues=3)
IN_ZONES = need(ZONE, "In", *ZONES, minValues=3)
HEAVY = nodepool("heavy", TYPES, weight=100)
LIGHT = nodepool("light", TYPES, weight=10)
FREE = nodepool("light", need(TYPE, "In", "type-1", "type-2", "type-3"), weight=10)
WANTS = pod(requests={"cpu": "900m", "memory": "900Mi"})
RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"


@pytest.mark.parametrize(
    ("pool", "types"),
    [
        pytest.param(HEAVY, BY_TYPE, id="should not schedule when minValues requirement is not met"),
        pytest.param(
            nodepool("default", IN_ZONES), BY_ZONE, id="should not schedule when zone minValues requirement is not met"
        ),
    ],
)
def test_min_values_are_strict(trial: NewTrial, pool: Json, types: list[Json]) -> None:
    plan = trial(pool, types=types, options={"minValuesPolicy": "Strict"}).provision(WANTS)
    assert not plan.claims
    assert plan.error("pod")


def least(plan: Plan, key: str) -> tuple[list[str], int]:
    found = plan.requirement("pod", key)
    return sorted(found["values"]), found["minValues"]


TWO_TYPES = {TYPE: (["type-1", "type-2"], 2)}
TWO_ZONES = {ZONE: (list(ZONES), 2)}


@pytest.mark.parametrize(
    ("pools", "types", "found"),
    [
        pytest.param([HEAVY], BY_TYPE, TWO_TYPES, id="should schedule even when minValues requirement is not met"),
        pytest.param(
            [HEAVY, FREE], BY_TYPE, TWO_TYPES, id="should relax minValues before falling back to other nodepools"
        ),
        pytest.param(
            [HEAVY, LIGHT], BY_TYPE, TWO_TYPES, id="should choose nodepool with higher weight when relaxing minValues"
        ),
        pytest.param(
            [nodepool("heavy", IN_ZONES)],
            BY_ZONE,
            TWO_ZONES,
            id="should schedule even when zone minValues requirement is not met",
        ),
        pytest.param(
            [nodepool("heavy", TYPES, IN_ZONES)],
            BY_ZONE,
            {TYPE: (["type-1"], 1), **TWO_ZONES},
            id="should schedule when minValues requirement is not met",
        ),
    ],
)
def test_min_values_give_way(trial: NewTrial, pools: list[Json], types: list[Json], found: Json) -> None:
    plan = trial(*pools, types=types, options={"minValuesPolicy": "BestEffort"}).provision(WANTS)
    (claim,) = plan.claims
    assert claim["nodepool"] == "heavy"
    assert claim["nodeclaim"]["metadata"]["annotations"][RELAXED] == "true"
    assert {key: least(plan, key) for key in found} == found
    assert claim["instance_types"][0] == "type-1"


NOTHING_LEFT = "nodepool requirements filtered out all available instance types"


@pytest.mark.parametrize(
    ("requirements", "count"),
    [
        pytest.param(
            [need(TYPE, "In", "non-existent")],
            1,
            id="should return appropriate pod error when no available instance types exist",
        ),
        pytest.param(
            [need(TYPE, "In", "non-existent")],
            3,
            id="should handle multiple pods when requirements filter out all instance types",
        ),
        pytest.param(
            [need(ARCH, "In", "arm64"), need(TYPE, "In", "default-instance-type")],
            1,
            id="should handle conflicting requirements that eliminate all instance types",
        ),
        pytest.param(
            [need(ZONE, "In", "non-existent-zone")],
            1,
            id="should handle zone requirements that filter out all instance types",
        ),
    ],
)
def test_requirements_that_leave_no_size(trial: NewTrial, requirements: list[Json], count: int) -> None:
    plan = trial(nodepool("default", *requirements)).provision(*pods(count))
    assert set(plan.answer["errors"].values()) == {NOTHING_LEFT}
    assert len(plan.answer["errors"]) == count


def test_capacity_types_of_a_nodepool(trial: NewTrial) -> None:
    """A NodeClaim names what its sizes are offered as, whatever the NodePool mentions."""
    plan = trial().provision(pod())
    assert sorted(plan.requirement("pod", CAPACITY)["values"]) == ["on-demand", "spot"]
