"""What core schedules otherwise since 1.14.3 and 1.15.0, beside 1.14.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.releases import ProviderRelease, provider
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, SchedulingResults, solve
from harness.karpenter.scheduling.pods.default_spread import scheduler_config_problem
from tests.scheduling.workload import CAPACITY, SIZES, TYPE, VOCABULARY, ZONE, need, node, nodepool, pod, size, spread

NOW, NEXT = provider("1.14.0"), provider("next")
DISK = "disk.csi.azure.com"
LABEL = "reservation.example.com/id"
KNOWN = replace(
    VOCABULARY,
    well_known=VOCABULARY.well_known | {LABEL},
    known_values={**VOCABULARY.known_values, CAPACITY: frozenset({"on-demand", "spot", "reserved"})},
)
WITH_RESERVED = {release: replace(release, vocabulary=KNOWN) for release in (NOW, NEXT)}
GATE = SchedulingOptions(reservation_label=LABEL)


def run(
    pods: Sequence[Mapping[str, Any]],
    release: ProviderRelease,
    types: Sequence[InstanceType] = SIZES,
    pool: Mapping[str, Any] | None = None,
    options: SchedulingOptions | None = None,
    **objects: Any,
) -> SchedulingResults:
    snapshot = ClusterSnapshot([pool or nodepool()], pods, **objects)
    return solve(snapshot, {"default": types}, release=release, options=options)


# minValues


def test_values_that_the_pod_excludes_do_not_count() -> None:
    pool = nodepool(requirements=[need(ZONE, "In", "z1", "z2", minValues=2)])
    pods = [pod("p", nodeSelector={ZONE: "z1"})]
    assert run(pods, NOW, pool=pool).errors == {}
    (reason,) = run(pods, NEXT, pool=pool).errors.values()
    assert str(reason).startswith(
        "minValues requirement is not met for label(s) (label(s)=[topology.kubernetes.io/zone])"
    )
    relaxed = run(pods, NEXT, pool=pool, options=SchedulingOptions(min_values_policy="BestEffort")).nodeclaims[0]
    (asked,) = (each for each in relaxed.to_nodeclaim()["spec"]["requirements"] if each["key"] == ZONE)
    assert (asked["values"], asked["minValues"]) == (["z1"], 1)


def test_values_that_the_nodepool_excludes_do_not_count() -> None:
    pool = nodepool(requirements=[need(ZONE, "NotIn", "z1", "z2", minValues=2)])
    assert run([pod("p")], NOW, pool=pool).errors == {}
    assert len(run([pod("p")], NEXT, pool=pool).events) == 1


# volumes of new nodes


def with_disks(name: str, *disks: str, **fields: Any) -> dict[str, Any]:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in disks]
    return pod(name, volumes=volumes, **fields)


def storage(*disks: str) -> dict[str, Any]:
    names = {each: f"pv-{each}" for each in disks}
    return {
        "pvcs": [
            {
                "metadata": {
                    "name": claim,
                    "namespace": "default",
                    "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
                },
                "spec": {"volumeName": volume},
                "status": {"phase": "Bound"},
            }
            for claim, volume in names.items()
        ],
        "pvs": [{"metadata": {"name": each}, "spec": {"csi": {"driver": DISK}}} for each in names.values()],
    }


def attaching(**limits: int) -> list[InstanceType]:
    return [replace(size(name, 8), attach_limits={DISK: limit}) for name, limit in limits.items()]


def names_of(results: SchedulingResults) -> list[list[str]]:
    return [sorted(each.name for each in planned.instance_types) for planned in results.nodeclaims]


def test_sizes_that_cannot_attach_all_volumes_are_left_out() -> None:
    pods = [with_disks("a", "x", "y"), with_disks("b", "y", "z")]
    disks = storage("x", "y", "z")
    assert names_of(run(pods, NOW, attaching(four=4, two=2), **disks)) == [["four", "two"]]
    assert names_of(run(pods, NEXT, attaching(four=4, two=2), **disks)) == [["four"]]
    assert names_of(run(pods, NEXT, attaching(three=3, two=2), **disks)) == [["three"]]
    assert names_of(run(pods, NEXT, attaching(two=2), **disks)) == [["two"], ["two"]]
    assert names_of(run(pods, NEXT, [size("any", 8)], **disks)) == [["any"]]


def test_too_many_volumes_for_every_size() -> None:
    results = run([with_disks("a", "x", "y", "z")], NEXT, attaching(one=1, two=2), **storage("x", "y", "z"))
    assert list(map(str, results.errors.values())) == [
        f"would exceed volume limit for all instance type options (provisioner={DISK}, volume-count=3, volume-limit=2)"
    ]


@pytest.mark.parametrize(
    ("driver", "release", "found"),
    [
        (None, NOW, {"n": ("a",)}),
        (None, NEXT, {}),
        ({"name": DISK, "allocatable": {"count": 5}}, NEXT, {"n": ("a",)}),
        ({"name": DISK}, NEXT, {"n": ("a",)}),
        ({"name": DISK, "allocatable": {}}, NEXT, {"n": ("a",)}),
        ({"name": DISK, "allocatable": {}}, NOW, {}),
        ({"name": "other", "allocatable": {"count": 5}}, NEXT, {}),
    ],
)
def test_a_node_attaches_what_its_csinode_says_or_else_its_size(
    driver: Mapping[str, Any] | None, release: ProviderRelease, found: Mapping[str, tuple[str, ...]]
) -> None:
    machine, claim = node("n")
    csinodes = [{"metadata": {"name": "n"}, "spec": {"drivers": [driver]}}] if driver is not None else []
    objects = {"nodes": [machine], "nodeclaims": [claim], "csinodes": csinodes, **storage("x", "y")}
    results = run([with_disks("a", "x", "y")], release, attaching(medium=1), **objects)
    placed = {name: tuple(each["metadata"]["name"] for each in pods) for name, pods in results.existing.items() if pods}
    assert placed == found


# reserved offerings that are full


def reserved(name: str, left: int, *, others: Sequence[str] = ("on-demand",)) -> InstanceType:
    """A size sold in z1 from a reservation that has so much left, which counts as available all the same."""
    base = size(name, 2, zones=("z1",), capacity_types=others)
    asked = [need(TYPE, "In", name), need(ZONE, "In", "z1"), need(CAPACITY, "In", *others, "reserved")]
    reservation = Requirements.from_labels({CAPACITY: "reserved", ZONE: "z1", LABEL: "r"}, vocabulary=KNOWN)
    return replace(
        base,
        requirements=Requirements.from_node_selector(asked, vocabulary=KNOWN),
        offerings=(
            *(
                replace(each, requirements=Requirements(each.requirements.values(), vocabulary=KNOWN))
                for each in base.offerings
            ),
            Offering(reservation, 0.000001, True, left),
        ),
    )


def capacity_types(results: SchedulingResults) -> list[str]:
    (made,) = results.nodeclaims
    return next(each["values"] for each in made.to_nodeclaim()["spec"]["requirements"] if each["key"] == CAPACITY)


@pytest.mark.parametrize(("left", "expected"), [(1, ["reserved"]), (0, ["on-demand"])])
def test_a_full_reservation_gives_way(left: int, expected: list[str]) -> None:
    assert capacity_types(run([pod("p")], WITH_RESERVED[NEXT], [reserved("a", left)], options=GATE)) == expected


def test_before_a_full_reservation_kept_pods_waiting() -> None:
    (reason,) = run([pod("p")], WITH_RESERVED[NOW], [reserved("a", 0)], options=GATE).errors.values()
    assert "could not be reserved" in str(reason)


def test_nothing_but_a_full_reservation() -> None:
    (reason,) = run([pod("p")], WITH_RESERVED[NEXT], [reserved("a", 0, others=())], options=GATE).errors.values()
    assert str(reason) == "all compatible reserved offerings are full and no on-demand or spot fallback is available"


def test_a_full_reservation_makes_no_size_cheap() -> None:
    types = [reserved("dear", 0), size("cheap", 2, zones=("z1",), capacity_types=("on-demand",), price=0.1)]
    assert run([pod("p")], WITH_RESERVED[NEXT], types, options=GATE).nodeclaims[0].instance_types[0].name == "cheap"


# default topology spread

OVER_ZONES = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
SPREAD = SchedulingOptions(default_spread=(OVER_ZONES,))
OWNED = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u"}


def web(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [pod(f"web-{number}", labels={"app": "web"}, **fields) for number in range(count)]


def owner(kind: str = "ReplicaSet", namespace: str = "default") -> dict[str, Any]:
    metadata = {"name": "web-1", "namespace": namespace, "uid": "u"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
    }


CONTROLLED = {"apiVersion": "v1", "kind": "ReplicationController", "name": "web-1", "uid": "u"}


def controller(**selector: str) -> dict[str, Any]:
    metadata = {"name": "web-1", "namespace": "default", "uid": "u"}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": metadata, "spec": {"selector": selector}}


def service(selector: Mapping[str, str] | None, namespace: str = "default") -> dict[str, Any]:
    return {"metadata": {"name": "web", "namespace": namespace}, "spec": {"selector": selector}}


@pytest.mark.parametrize(
    ("pods", "objects", "nodes"),
    [
        (web(3, owner=OWNED), {"workloads": [owner()]}, 3),
        (web(3, owner=CONTROLLED), {"workloads": [controller(app="web")]}, 3),
        (web(3, owner=CONTROLLED), {"workloads": [controller()]}, 1),
        (
            web(3, owner=CONTROLLED),
            {"workloads": [controller(app="other")], "services": [service({"app": "web"})]},
            1,
        ),
        (web(3, owner=OWNED), {"workloads": [controller(app="web")]}, 1),
        (web(3), {"services": [service({"app": "web"})]}, 3),
        (web(3), {"services": [service({"app": "other"})]}, 1),
        (web(3), {"services": [service({})]}, 1),
        (web(3), {"services": [service(None)]}, 1),
        (web(3), {"services": [service({"app": "web"}, "elsewhere")]}, 1),
        (web(3, owner={**OWNED, "kind": "Job", "apiVersion": "batch/v1"}), {"workloads": [owner()]}, 1),
        (web(3, owner=OWNED), {}, 1),
        (web(3, owner=OWNED, topologySpreadConstraints=[spread(ZONE, "nobody")]), {"workloads": [owner()]}, 1),
    ],
    ids=[
        "owner",
        "controller",
        "no selector",
        "overwrites",
        "other kind",
        "service",
        "other service",
        "all",
        "none",
        "namespace",
        "job",
        "no owner",
        "own spread",
    ],
)
def test_pods_without_a_spread_get_the_default(
    pods: Sequence[Mapping[str, Any]], objects: Mapping[str, Any], nodes: int
) -> None:
    assert len(run(pods, NEXT, options=SPREAD, **objects).nodeclaims) == nodes
    assert len(run(pods, NOW, options=SPREAD, **objects).nodeclaims) == 1


@pytest.mark.parametrize(
    ("constraint", "problem"),
    [
        ({}, None),
        ({"maxSkew": 0}, ".maxSkew must be greater than 0"),
        ({"topologyKey": ""}, ".topologyKey must be set"),
        (
            {"whenUnsatisfiable": "Never"},
            '.whenUnsatisfiable "Never" must be one of "DoNotSchedule" or "ScheduleAnyway"',
        ),
        ({"labelSelector": {}}, ".labelSelector must not be set, as selectors are deduced for each pod"),
        ({"matchLabelKeys": ["a"]}, ".matchLabelKeys must not be set, as it has no effect on default constraints"),
    ],
)
def test_what_the_controller_says_of_its_configuration(constraint: Mapping[str, Any], problem: str | None) -> None:
    config = {"podTopologySpread": {"defaultConstraints": [{**OVER_ZONES, **constraint}]}}
    path = "validating scheduler config, podTopologySpread.defaultConstraints[0]"
    assert scheduler_config_problem(config) == (problem and path + problem)


def test_a_configuration_that_repeats_itself_or_says_what_nobody_knows() -> None:
    twice = {"podTopologySpread": {"defaultConstraints": [OVER_ZONES, {**OVER_ZONES, "maxSkew": 2}]}}
    assert str(scheduler_config_problem(twice)).endswith(
        "defaultConstraints[1] is a duplicate of [0], {topology.kubernetes.io/zone, DoNotSchedule}"
    )
    assert str(scheduler_config_problem({"podTopologySpraed": {}})).endswith('json: unknown field "podTopologySpraed"')
    inside = {"podTopologySpread": {"defaultConstraint": []}}
    assert str(scheduler_config_problem(inside)).endswith('json: unknown field "defaultConstraint"')
