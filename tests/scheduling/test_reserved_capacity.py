"""Reserved offerings, as core's scheduler has them with the feature gate on (Azure keeps it off). Names are those of upstream's cases
("Reserved Instance Types" of scheduling/suite_test.go, and reservationmanager_test.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, SchedulingResults, is_deferred, solve
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodeclaims.reservations import Reservations
from harness.karpenter.scheduling.reasons.pods import ReservationsTaken
from tests.scheduling.workload import (
    CAPACITY,
    HOST,
    RELEASE,
    TYPE,
    VOCABULARY,
    ZONE,
    affinity,
    error,
    need,
    nodepool,
    pod,
    size,
)

LABEL = "reservation.example.com/id"
KNOWN: Vocabulary = replace(
    VOCABULARY,
    well_known=VOCABULARY.well_known | {LABEL},
    known_values={**VOCABULARY.known_values, CAPACITY: frozenset({"on-demand", "spot", "reserved"})},
)
GATE = SchedulingOptions(reservation_label=LABEL)
TAKEN = "one or more instance types with compatible reserved offerings are available, but could not be reserved"
LOST = "satisfying updated nodeclaim constraints would remove all compatible reserved offering options"


def reserved(name: str, cpu: int, places: Mapping[str, int]) -> InstanceType:
    """A size sold as spot and on-demand, and in z1 from reservations: name → machines left (0: its offering is unavailable)."""
    base = size(name, cpu)
    extra = tuple(
        Offering(
            Requirements.from_labels({CAPACITY: "reserved", ZONE: "z1", LABEL: each}, vocabulary=KNOWN),
            cpu / 1_000_000,
            left > 0,
            left,
        )
        for each, left in places.items()
    )
    items = [need(TYPE, "In", name), need(ZONE, "In", "z1", "z2", "z3")]
    items += [need(CAPACITY, "In", "on-demand", "spot", "reserved"), need("kubernetes.io/arch", "In", "amd64")]
    return replace(
        base,
        requirements=Requirements.from_node_selector(items, vocabulary=KNOWN),
        offerings=tuple(
            replace(each, requirements=Requirements(each.requirements.values(), vocabulary=KNOWN))
            for each in base.offerings
        )
        + extra,
    )


def sizes(small: int = 1, medium: int = 1, **more: int) -> Sequence[InstanceType]:
    return (
        size("large", 8),
        reserved("medium", 3, {"r-medium": medium}),
        reserved("small", 2, {"r-small": small, **{f"r-small-{name}": left for name, left in more.items()}}),
    )


def run(
    pods: Sequence[Mapping[str, Any]],
    types: Sequence[InstanceType] | Mapping[str, Sequence[InstanceType]],
    pools: Sequence[Mapping[str, Any]] = (),
    options: SchedulingOptions = GATE,
) -> SchedulingResults:
    pools = pools or [nodepool()]
    by_pool = types if isinstance(types, Mapping) else {pool["metadata"]["name"]: types for pool in pools}
    return solve(ClusterSnapshot(pools, pods), by_pool, release=replace(RELEASE, vocabulary=KNOWN), options=options)


def alone(count: int, *node: Mapping[str, Any], cpu: str = "500m", **spec: Any) -> list[dict[str, Any]]:
    """Pods that keep each other off their hosts, with required node affinity."""
    affinities = affinity("podAntiAffinity", HOST, "test")["affinity"]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": node}]}}
    both = {**affinities, **({"nodeAffinity": required} if node else {})}
    return [pod(f"p{i}", cpu, labels={"app": "test"}, affinity=both, **spec) for i in range(count)]


def held(results: SchedulingResults) -> list[tuple[list[str], list[str]]]:
    """Capacity types and reservations that each NodeClaim asks for."""
    made = []
    for planned in results.nodeclaims:
        asked = {each["key"]: each.get("values", []) for each in planned.to_nodeclaim()["spec"]["requirements"]}
        made.append((asked[CAPACITY], asked.get(LABEL, [])))
    return made


SPOT_OR_NOT = ["on-demand", "spot"]
RESERVED_ONLY = ["reserved"]


@pytest.mark.parametrize(
    ("left", "expected", "deferred", "first"),
    [
        ((1, 1), [(RESERVED_ONLY, ["r-medium", "r-small"])], 2, "small"),
        ((0, 1), [(RESERVED_ONLY, ["r-medium"])], 1, "medium"),
        ((0, 0), [(SPOT_OR_NOT, [])], 0, "small"),
    ],
)
def test_shouldnt_fallback_to_on_demand_or_spot_when_compatible_reserved_offerings_are_available(
    left: tuple[int, int], expected: Any, deferred: int, first: str
) -> None:
    results = run([pod(f"p{i}", "1800m") for i in range(deferred + 1)], sizes(*left))
    assert held(results) == expected
    assert [str(reason) for reason in results.errors.values()] == [TAKEN] * deferred
    assert all(map(is_deferred, results.errors.values()))
    assert results.nodeclaims[0].instance_types[0].name == first


def test_preferences_that_have_nothing_to_do_with_reservations_are_given_up() -> None:
    """Core ``scheduling/scheduler.go`` trySchedule: only a reserved offering error ends the relaxation."""
    preference = {"matchExpressions": [need(ZONE, "In", "nowhere")]}
    wishes = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": preference}]}
    results = run([pod("p", affinity={"nodeAffinity": wishes})], sizes())
    assert results.errors == {}
    assert len(results.nodeclaims) == 1


def test_gate_off_reserved_offerings_are_ordinary_ones() -> None:
    results = run([pod(f"p{i}", "1800m") for i in range(3)], sizes(), options=SchedulingOptions())
    assert results.errors == {}
    assert len(results.nodeclaims) == 1


def test_should_correctly_track_reservations_shared_across_nodepools() -> None:
    pools = [nodepool("np-1"), nodepool("np-2")]
    pods = [
        *alone(1, need(TYPE, "In", "small"), need("karpenter.sh/nodepool", "In", "np-1")),
        alone(2, need(TYPE, "In", "small"), need("karpenter.sh/nodepool", "In", "np-2"))[1],
    ]
    results = run(pods, sizes(), pools)
    assert held(results) == [(RESERVED_ONLY, ["r-small"])]
    # np-2 comes first by name, cannot take p0 at all, and p1 finds the reservation gone
    assert (error(results, "p1") or "").endswith(TAKEN)
    assert held(run(pods[1:], sizes(0), pools)) == [(SPOT_OR_NOT, [])]


def test_should_correctly_track_reservations_for_multiple_nodepools_with_distinct_reservations() -> None:
    types = {"np-1": sizes(), "np-2": (reserved("small", 2, {"r-distinct": 1}),)}
    pods = [
        *alone(1, need(TYPE, "In", "small"), need("karpenter.sh/nodepool", "In", "np-1")),
        alone(2, need(TYPE, "In", "small"), need("karpenter.sh/nodepool", "In", "np-2"))[1],
    ]
    results = run(pods, types, [nodepool("np-1"), nodepool("np-2")])
    assert sorted(held(results)) == [(RESERVED_ONLY, ["r-distinct"]), (RESERVED_ONLY, ["r-small"])]


@pytest.mark.parametrize(
    ("left", "more", "count", "made"),
    [
        # the first node might go into either, the second only into the larger; then nothing is left for the others
        (1, 2, 4, [["r-small", "r-small-2"], ["r-small-2"]]),
        (1, 1, 2, [["r-small", "r-small-2"]]),
        (0, 0, 1, [[]]),
    ],
)
def test_should_correctly_track_multiple_reservations_for_the_same_instance_pool(
    left: int, more: int, count: int, made: list[list[str]]
) -> None:
    results = run(alone(count, need(TYPE, "In", "small")), sizes(left, **{"2": more}))
    assert [names for _, names in held(results)] == made
    assert len(results.errors) == count - len(made)


def test_shouldnt_fallback_to_a_lower_weight_nodepool_if_a_reserved_offering_is_available() -> None:
    pools = [nodepool("np-primary", weight=100), nodepool("np-fallback", weight=50)]
    types = {"np-primary": sizes(), "np-fallback": (reserved("small", 2, {"r-fallback": 1}),)}
    results = run(alone(2, need(TYPE, "In", "small")), types, pools)
    assert [planned.nodepool for planned in results.nodeclaims] == ["np-primary"]
    assert error(results, "p1") == TAKEN  # np-fallback was not asked
    later = run(alone(1, need(TYPE, "In", "small")), {**types, "np-primary": sizes(0)}, pools)
    assert [(planned.nodepool, held(later)[0]) for planned in later.nodeclaims] == [("np-primary", (SPOT_OR_NOT, []))]


def test_shouldnt_relax_preferences_when_a_pod_fails_to_schedule_due_to_a_reserved_offering_error() -> None:
    types = {"np-1": sizes(), "np-2": (reserved("small", 2, {"r-distinct": 1}),)}
    pods = alone(2, need(TYPE, "In", "small"))
    preference = {"matchExpressions": [need("karpenter.sh/nodepool", "In", "np-1")]}
    for each in pods:
        preferred = [{"weight": 1, "preference": preference}]
        each["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    pools = [nodepool("np-1"), nodepool("np-2")]
    results = run(pods, types, pools)
    assert [planned.nodepool for planned in results.nodeclaims] == ["np-1"]
    assert is_deferred(results.errors["default/p1"])
    later = run(pods[:1], {**types, "np-1": sizes(0)}, pools)
    assert [planned.nodepool for planned in later.nodeclaims] == ["np-1"]


def test_should_handle_multiple_pods_on_reserved_nodes() -> None:
    selector = {TYPE: "small", "karpenter.sh/nodepool": "default", CAPACITY: "reserved", ZONE: "z1"}
    together = affinity("podAffinity", ZONE, "test")
    pods = [pod(f"p{i}", labels={"app": "test"}, nodeSelector=selector, **together) for i in range(2)]
    results = run(pods, sizes())
    assert results.errors == {}
    assert held(results) == [(RESERVED_ONLY, ["r-small"])]
    assert len(results.nodeclaims[0].pods) == 2


def test_a_pod_does_not_join_a_node_that_would_lose_its_reservation() -> None:
    """The second pod's zone has no reserved offering: it gets a node of its own."""
    results = run([pod("a", "1", labels={"app": "x"}), pod("b", "500m", nodeSelector={ZONE: "z2"})], sizes())
    assert sorted(len(planned.pods) for planned in results.nodeclaims) == [1, 1]
    assert sorted(held(results)) == [(SPOT_OR_NOT, []), (RESERVED_ONLY, ["r-medium", "r-small"])]


def test_a_node_gives_back_the_reservations_it_can_no_longer_use() -> None:
    """a could become small or medium; with b only medium is left, so that c gets small's reservation."""
    pods = [
        pod("a", "1900m"),
        pod("b", "900m", nodeSelector={CAPACITY: "reserved", ZONE: "z1"}),
        pod("c", "800m", nodeSelector={TYPE: "small"}),
    ]
    results = run(pods, sizes())
    assert results.errors == {}
    assert sorted(names for _, names in held(results)) == [["r-medium"], ["r-small"]]


# reservationmanager_test.go

H1, H2 = "host-1", "host-2"
Step = tuple[str, str, Iterable[str]]


def manager(**left: int) -> Reservations:
    types = [reserved(f"s-{name}", 2, {name: count}) for name, count in left.items()]
    return Reservations([CatalogIndex(types, KNOWN)], LABEL)


@pytest.mark.parametrize(
    ("case", "steps", "left", "held_by"),
    [
        ("should successfully reserve capacity", [("reserve", H1, ["a"])], {"a": 1, "b": 1}, {(H1, "a")}),
        (
            "should not double-reserve for the same hostname and reservation",
            [("reserve", H1, ["a"]), ("reserve", H1, ["a"])],
            {"a": 1, "b": 1},
            {(H1, "a")},
        ),
        (
            "should handle mixed new and existing reservations",
            [("reserve", H1, ["a"]), ("reserve", H1, ["a", "b"])],
            {"a": 1, "b": 0},
            {(H1, "a"), (H1, "b")},
        ),
        (
            "should release a single reservation",
            [("reserve", H1, ["a", "b"]), ("release", H1, ["a"])],
            {"a": 2, "b": 0},
            {(H1, "b")},
        ),
        (
            "should handle releasing non-existent reservations gracefully",
            [("release", H1, ["a", "nothing"]), ("release", H2, ["b"])],
            {"a": 2, "b": 1},
            set(),
        ),
        (
            "should restore capacity when releasing reservations",
            [("reserve", H1, ["a"]), ("reserve", H2, ["a"]), ("release", H1, ["a"])],
            {"a": 1, "b": 1},
            {(H2, "a")},
        ),
        (
            "should correctly track capacity after multiple reserve/release cycles",
            [("reserve", H1, ["a"]), ("release", H1, ["a"])] * 5,
            {"a": 2, "b": 1},
            set(),
        ),
        (
            "should handle complex reservation patterns",
            [("reserve", H1, ["a", "b"]), ("reserve", H2, ["a"]), ("release", H1, ["b"]), ("reserve", H2, ["b"])],
            {"a": 0, "b": 0},
            {(H1, "a"), (H2, "a"), (H2, "b")},
        ),
    ],
)
def test_reservation_manager(case: str, steps: list[Step], left: dict[str, int], held_by: set[tuple[str, str]]) -> None:
    reservations = manager(a=2, b=1)
    for action, host, names in steps:
        getattr(reservations, action)(host, names)
    assert {name: reservations.left(name) for name in "ab"} == left, case
    assert {(h, name) for h in (H1, H2) for name in "ab" if reservations.holds(h, name)} == held_by, case


def test_reservation_manager_limits() -> None:
    reservations = manager(a=1)
    reservations.reserve(H1, ["a"])
    assert reservations.can_reserve(H1, "a")  # should return true when hostname already has the reservation
    assert not reservations.can_reserve(H2, "a")
    with pytest.raises(ValueError, match="no capacity left"):  # should panic when trying to over-reserve
        reservations.reserve(H2, ["a"])
    for wrong in (reservations.can_reserve, lambda host, name: reservations.reserve(host, [name])):
        with pytest.raises(KeyError):  # should panic with non-existent reservation ID
            wrong(H2, "nothing")


def test_the_smallest_capacity_of_a_reservation_counts() -> None:
    types = [reserved("s1", 2, {"a": 5}), reserved("s2", 4, {"a": 2})]
    assert Reservations([CatalogIndex(types, KNOWN)], LABEL).left("a") == 2


def test_the_sentence_for_a_node_that_would_lose_its_reservation() -> None:
    assert str(ReservationsTaken(lost=True)) == LOST
