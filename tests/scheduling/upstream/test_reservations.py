"""Reserved capacity (a feature gate that Azure leaves off) and dynamic resource allocation.

Source: core pkg/controllers/provisioning/scheduling/suite_test.go, Reserved Instance Types, DRA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import CAPACITY, HOST, TYPE, ZONE, ZONES, instance_type, offering, price
from tests.scheduling.upstream.objects import affinity, daemonset, near, need, nodepool, pod, pods
from tests.scheduling.upstream.trial import Plan, Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

LABEL = "reservation.example.com/id"
GATE = {"reservationLabel": LABEL}
TAKEN = "one or more instance types with compatible reserved offerings are available, but could not be reserved"
APP = {"app": "test"}
APART = affinity(apart=[near(HOST, APP)])
SMALL = need(TYPE, "In", "small")


def size(name: str, cpu: str, **reservations: int) -> Json:
    """A size that can be bought, and taken from reservations with so many machines left."""
    capacity = {"cpu": cpu, "memory": f"{cpu}Gi"}
    bought = [offering(kind, zone, price(capacity)) for kind, zone in (("spot", ZONES[0]), ("on-demand", ZONES[0]))]
    for name_of, left in reservations.items():
        way = offering("reserved", ZONES[0], price(capacity) / 100_000, available=left > 0)
        way["requirements"].append(need(LABEL, "In", name_of.replace("_", "-")))
        bought.append({**way, "reservation_capacity": left})
    return instance_type(name, cpu=cpu, memory=f"{cpu}Gi", offerings=bought)


def sizes(small: int = 1, medium: int = 1, **more: int) -> list[Json]:
    return [size("large", "6"), size("medium", "3", r_medium=medium), size("small", "2", r_small=small, **more)]


def held(plan: Plan) -> list[list[str]]:
    """Reservations that each NodeClaim may be taken from; none for one that is bought."""
    found = []
    for claim in plan.claims:
        asked = {each["key"]: sorted(each.get("values") or []) for each in claim["nodeclaim"]["requirements"]}
        assert (asked[CAPACITY] == ["reserved"]) is (LABEL in asked)
        found.append(asked.get(LABEL, []))
    return found


def alone(count: int, *requirements: Json, **fields: Any) -> list[Json]:
    """Pods that need a Node each."""
    return pods(count, labels=APP, affinity={**APART, **affinity(needs=requirements)}, **fields)


@pytest.mark.parametrize(
    ("left", "reserved", "deferred"),
    [((1, 1), [["r-medium", "r-small"]], 2), ((0, 1), [["r-medium"]], 1), ((0, 0), [[]], 0)],
    ids=["first round", "second round", "third round"],
)
def test_nothing_is_bought_while_something_is_reserved(
    trial: NewTrial, left: tuple[int, int], reserved: list[list[str]], deferred: int
) -> None:
    """shouldn't fallback to on-demand or spot when compatible reserved offerings are available"""
    waiting = pods(deferred + 1, requests={"cpu": "1800m"})
    plan = trial(types=sizes(*left), options=GATE).provision(*waiting, launch=False)
    assert held(plan) == reserved
    assert list(plan.answer["errors"].values()) == [TAKEN] * deferred


TWO_POOLS = [nodepool("np-1"), nodepool("np-2")]


def of_pool(number: int) -> list[Json]:
    return [SMALL, need("karpenter.sh/nodepool", "In", f"np-{number}")]


def one_for_each_pool() -> list[Json]:
    return [pod(f"p{n}", labels=APP, affinity={**APART, **affinity(needs=of_pool(n))}) for n in (1, 2)]


def test_one_reservation_of_two_nodepools(trial: NewTrial) -> None:
    """should correctly track reservations shared across nodepools"""
    first, second = one_for_each_pool()
    plan = trial(*TWO_POOLS, types=sizes(), options=GATE).provision(first, second, launch=False)
    assert held(plan) == [["r-small"]]
    assert plan.error("p2").endswith(TAKEN)
    later = trial(*TWO_POOLS, types=sizes(0), options=GATE).provision(second, launch=False)
    assert held(later) == [[]]


def test_several_reservations_of_one_size(trial: NewTrial) -> None:
    """should correctly track multiple reservations for the same instance pool"""
    plan = trial(types=sizes(1, 1, r_small_2=2), options=GATE).provision(*alone(4, SMALL), launch=False)
    assert held(plan) == [["r-small", "r-small-2"], ["r-small-2"]]
    assert len(plan.answer["errors"]) == 2
    after = trial(types=sizes(1, 1, r_small_2=1), options=GATE).provision(*alone(2, SMALL), launch=False)
    assert held(after) == [["r-small", "r-small-2"]]
    last = trial(types=sizes(0, 1, r_small_2=0), options=GATE).provision(*alone(1, SMALL), launch=False)
    assert held(last) == [[]]


def split(primary: list[Json], other: list[Json]) -> tuple[list[Json], list[Json]]:
    """Two NodePools and the sizes of both, told apart by a key of their own."""
    for pool, listed in (("np-1", primary), ("np-2", other)):
        for each in listed:
            each["name"] = f"{each['name']}-{pool}"
            each["requirements"] = [r for r in each["requirements"] if r["key"] != TYPE]
            each["requirements"] += [need(TYPE, "In", each["name"]), need("example.com/pool", "In", pool)]
    pools = [nodepool(name, need("example.com/pool", "In", name)) for name in ("np-1", "np-2")]
    return pools, [*primary, *other]


OF_BOTH = need(TYPE, "In", "small-np-1", "small-np-2")


def test_reservations_of_their_own(trial: NewTrial) -> None:
    """should correctly track reservations for multiple nodepools with distinct reservations for the same instance pool"""
    pools, types = split(sizes(), [size("small", "2", r_distinct=1)])
    waiting = [
        pod(
            f"p{n}",
            labels=APP,
            affinity={**APART, **affinity(needs=[need("karpenter.sh/nodepool", "In", f"np-{n}"), OF_BOTH])},
        )
        for n in (1, 2)
    ]
    plan = trial(*pools, types=types, options=GATE).provision(*waiting, launch=False)
    assert sorted(held(plan)) == [["r-distinct"], ["r-small"]]


def test_a_lighter_nodepool_is_not_asked(trial: NewTrial) -> None:
    """shouldn't fallback to a lower weight NodePool if a reserved offering is available"""
    pools, types = split(sizes(), [size("small", "2", r_fallback=1)])
    pools[0]["spec"]["weight"], pools[1]["spec"]["weight"] = 100, 50
    plan = trial(*pools, types=types, options=GATE).provision(*alone(2, OF_BOTH), launch=False)
    assert [(claim["nodepool"], names) for claim, names in zip(plan.claims, held(plan), strict=True)] == [
        ("np-1", ["r-small"])
    ]
    assert plan.error("pod-01").endswith(TAKEN)
    pools, types = split(sizes(0), [size("small", "2", r_fallback=1)])
    pools[0]["spec"]["weight"], pools[1]["spec"]["weight"] = 100, 50
    later = trial(*pools, types=types, options=GATE).provision(*alone(1, OF_BOTH), launch=False)
    assert [(claim["nodepool"], names) for claim, names in zip(later.claims, held(later), strict=True)] == [
        ("np-1", [])
    ]


def test_preferences_stay(trial: NewTrial) -> None:
    """shouldn't relax preferences when a pod fails to schedule due to a reserved offering error"""
    wish = affinity(needs=[OF_BOTH], prefers=[need("karpenter.sh/nodepool", "In", "np-1")])
    for left, names in ((1, ["r-small"]), (0, [])):
        pools, types = split(sizes(left), [size("small", "2", r_distinct=1)])
        waiting = pods(1 + left, labels=APP, affinity={**APART, **wish})
        plan = trial(*pools, types=types, options=GATE).provision(*waiting, launch=False)
        assert [(claim["nodepool"], held(plan)[0]) for claim in plan.claims] == [("np-1", names)]
        assert len(plan.answer["errors"]) == left


def test_two_pods_of_one_reserved_node(trial: NewTrial) -> None:
    """should handle multiple pods on reserved nodes: Azure refuses pods that ask for the capacity type, as upstream's do"""
    needs = [*of_pool(1), need(ZONE, "In", ZONES[0])]
    together = affinity(needs=needs, near=[near(ZONE, APP)])
    plan = trial(nodepool("np-1"), types=sizes(), options=GATE).provision(
        *pods(2, labels=APP, affinity=together), launch=False
    )
    assert (plan.groups(), held(plan)) == ([["pod-00", "pod-01"]], [["r-small"]])


CLAIM = [{"name": "gpu"}]
REFUSED = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"


@pytest.mark.parametrize(
    ("container", "init", "refused"),
    [
        pytest.param(CLAIM, [], True, id="should handle DRA pods correctly: container with resource claims"),
        pytest.param([], CLAIM, True, id="should handle DRA pods correctly: init container with resource claims"),
        pytest.param(
            CLAIM,
            CLAIM,
            True,
            id="should handle DRA pods correctly: pod with both container and init container resource claims",
        ),
        pytest.param([], [], False, id="should handle DRA pods correctly: non-DRA pod without resource claims"),
    ],
)
def test_resource_claims(trial: NewTrial, container: list[Json], init: list[Json], refused: bool) -> None:
    waiting = pod(initContainers=[{"name": "i", "resources": {"claims": init}}])
    waiting["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}, "claims": container}
    plan = trial().provision(waiting)
    assert plan.error("pod") == (REFUSED if refused else "")
    assert len(plan.claims) == (0 if refused else 1)


def test_daemonsets_with_resource_claims(trial: NewTrial) -> None:
    """should handle DaemonSet pods with DRA requirements based on IgnoreDRARequests flag value"""
    daemon = daemonset(requests={"cpu": "3"})
    daemon["spec"]["template"]["spec"]["containers"][0]["resources"]["claims"] = CLAIM
    cluster = trial(objects={"daemonsets": [daemon]})
    cluster.provision(pod(requests={"cpu": "1"}))
    assert cluster.labels("pod")[TYPE] == "small-instance-type"
