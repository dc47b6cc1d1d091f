"""Which sizes hold which pods, and how many Nodes it takes. Source: core pkg/controllers/provisioning/scheduling/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import ARCH, OS, SIZE, SPECIAL, TYPE, ZONE, growing, instance_type, offering
from tests.scheduling.upstream.objects import need, nodepool, pod, pods
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

AMD = nodepool("default", need(ARCH, "In", "amd64"))
BOTH = nodepool("default", need(ARCH, "In", "arm64", "amd64"))
OLD_TYPE = "beta.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("pool", "waiting"),
    [
        pytest.param(
            nodepool(),
            pod(requests={"cpu": "512"}),
            id="should not schedule if requesting more resources than any instance type has",
        ),
        pytest.param(
            AMD,
            pod(needs=[need(TYPE, "In", "arm-instance-type")]),
            id="should exclude instance types that are not supported by the pod constraints (node affinity/instance type)",
        ),
        pytest.param(
            AMD,
            pod(needs=[need(OS, "In", "ios")]),
            id="should exclude instance types that are not supported by the pod constraints (node affinity/operating system)",
        ),
        pytest.param(
            AMD,
            pod(limits={"cpu": "14"}),
            id="should exclude instance types that are not supported by the provider constraints (arch)",
        ),
        pytest.param(
            nodepool(),
            pod(requests={"memory": "2Ti"}),
            id="should not schedule pods that exceed every instance type's capacity",
        ),
        pytest.param(
            nodepool(),
            pod(
                requests={"cpu": "1", "memory": "1Gi"},
                initContainers=[{"name": "i", "resources": {"requests": {"cpu": "2", "memory": "1Ti"}}}],
            ),
            id="should not schedule pods when initContainer resource requests are greater than available instance types",
        ),
    ],
)
def test_no_size_is_right(trial: NewTrial, pool: Json, waiting: Json) -> None:
    plan = trial(pool).provision(waiting)
    assert not plan.claims
    assert plan.error("pod")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            {ARCH: "amd64"}, {ARCH: "arm64"}, id="should launch pods with different archs on different instances"
        ),
        pytest.param(
            {TYPE: "small-instance-type"},
            {TYPE: "default-instance-type"},
            id="should launch pods with different instance type node selectors on different instances",
        ),
        pytest.param(
            {OLD_TYPE: "small-instance-type"}, {TYPE: "default-instance-type"}, id="with the key that is no more"
        ),
        pytest.param(
            {ZONE: "test-zone-1"},
            {ZONE: "test-zone-2"},
            id="should launch pods with different zone selectors on different instances",
        ),
        pytest.param(
            {OS: "linux"},
            {OS: "windows"},
            id="should launch pods with different operating systems on different instances",
        ),
    ],
)
def test_two_kinds_of_nodes(trial: NewTrial, first: Json, second: Json) -> None:
    plan = trial(BOTH).provision(pod("a", nodeSelector=first), pod("b", nodeSelector=second))
    assert plan.groups() == [["a"], ["b"]]


def two_accelerators() -> list[Json]:
    """Five sizes; one has the one kind, another the other."""
    sizes = growing(5)
    for size, name in zip(sizes, ("example.com/great", "example.com/better"), strict=False):
        size["capacity"][name] = "25"
    return sizes


def test_resources_of_different_sizes(trial: NewTrial) -> None:
    """should launch pods with resources that aren't on any single instance type on different instances"""
    plan = trial(types=two_accelerators()).provision(
        pod("a", limits={"example.com/great": "1"}), pod("b", limits={"example.com/better": "1"})
    )
    assert (plan.sizes("a"), plan.sizes("b")) == (["fake-it-0"], ["fake-it-1"])


def test_resources_that_no_size_has_together(trial: NewTrial) -> None:
    """should fail to schedule a pod with resources requests that aren't on a single instance type"""
    both = {"example.com/great": "1", "example.com/better": "1"}
    plan = trial(types=two_accelerators()).provision(pod(limits=both))
    assert not plan.claims
    assert "no instance type has enough resources" in plan.error("pod")


SMALL, DEFAULT = "small-instance-type", "default-instance-type"
INIT = [{"name": "i", "resources": {"requests": {"memory": "1Gi", "cpu": "2"}}}]


@pytest.mark.parametrize(
    ("waiting", "size"),
    [
        pytest.param(
            pod(requests={"memory": "100M"}), SMALL, id="should schedule a small pod on the smallest instance"
        ),
        pytest.param(
            pod(requests={"memory": "2000M"}),
            SMALL,
            id="should schedule a small pod on the smallest possible instance type",
        ),
        # admission has written the overhead of the runtime class into the pod
        pytest.param(
            pod(requests={"cpu": "1"}, overhead={"cpu": "2"}),
            DEFAULT,
            id="should take pod runtime class into consideration",
        ),
        pytest.param(
            pod(requests={"memory": "1Gi", "cpu": "1"}, initContainers=INIT),
            DEFAULT,
            id="should take into account initContainer resource requests when binpacking",
        ),
        pytest.param(
            pod(requests={"foo.com/weird-resources": "0"}, limits={"foo.com/weird-resources": "0"}),
            SMALL,
            id="should handle zero-quantity resource requests",
        ),
    ],
)
def test_the_cheapest_size_that_holds_it(trial: NewTrial, waiting: Json, size: str) -> None:
    cluster = trial()
    cluster.provision(waiting)
    assert cluster.labels("pod")[TYPE] == size


AMD64 = {ARCH: "amd64"}


@pytest.mark.parametrize(
    ("waiting", "size", "nodes"),
    [
        pytest.param(
            pods(5, requests={"memory": "10M"}),
            SMALL,
            1,
            id="should schedule multiple small pods on the smallest possible instance type",
        ),
        pytest.param(
            pods(40, nodeSelector=AMD64, requests={"memory": "1800M"}),
            DEFAULT,
            20,
            id="should create new nodes when a node is at capacity",
        ),
        pytest.param(
            [
                *pods(40, nodeSelector=AMD64, requests={"memory": "1800M"}),
                *pods(20, "small", nodeSelector=AMD64, requests={"memory": "400M"}),
            ],
            DEFAULT,
            20,  # beside two large pods there is room for one small one
            id="should pack small and large pods together",
        ),
        pytest.param(
            pods(25, nodeSelector=AMD64, requests={"memory": "1m", "cpu": "1m"}),
            SMALL,
            5,  # five pods is all that a Node takes
            id="should create new nodes when a node is at capacity due to pod limits per node",
        ),
    ],
)
def test_how_many_nodes(trial: NewTrial, waiting: list[Json], size: str, nodes: int) -> None:
    cluster = trial()
    plan = cluster.provision(*waiting)
    assert len(plan.claims) == nodes
    assert {cluster.labels(each["metadata"]["name"])[TYPE] for each in waiting} == {size}


def test_a_smaller_node_for_what_is_left(trial: NewTrial) -> None:
    """should pack nodes tightly"""
    cluster = trial(types="five")
    cluster.provision(pod("a", requests={"cpu": "4500m"}), pod("b", requests={"cpu": "1"}))
    assert (cluster.labels("a")[TYPE], cluster.labels("b")[TYPE]) == ("fake-it-4", "fake-it-1")


def test_price_does_not_remove_sizes(trial: NewTrial) -> None:
    """should select for valid instance types, regardless of price"""
    sizes = [
        instance_type(name, cpu=cpu, memory=f"{cpu}Gi", offerings=(offering("on-demand", "test-zone-1a", cost),))
        for name, cpu, cost in (("medium", "2", 3.0), ("small", "1", 2.0), ("large", "4", 1.0))
    ]
    plan = trial(types=sizes).provision(pod(limits={"cpu": "1m", "memory": "1Mi"}))
    assert plan.sizes("pod") == ["large", "small", "medium"]


LABELLED: list[tuple[str, Json, str]] = [
    ("should filter instance types that match labels: large", pod(nodeSelector={SIZE: "large"}), "fake-it-4"),
    ("should filter instance types that match labels: small", pod(nodeSelector={SIZE: "small"}), "fake-it-0"),
    ("should schedule optional labels", pod(needs=[need(SPECIAL, "Exists")]), "fake-it-4"),
    (
        "should schedule without optional labels if disallowed",
        pod(needs=[need(SPECIAL, "DoesNotExist")]),
        "fake-it-0",
    ),
    ("should not schedule with incompatible labels", pod(nodeSelector={SIZE: "large", TYPE: "fake-it-0"}), ""),
    ("should not schedule with incompatible labels: small", pod(nodeSelector={SIZE: "small", TYPE: "fake-it-4"}), ""),
]


@pytest.mark.parametrize(("waiting", "size"), [pytest.param(*row[1:], id=row[0]) for row in LABELLED])
def test_keys_that_only_some_sizes_have(trial: NewTrial, waiting: Json, size: str) -> None:
    cluster = trial(types="five")
    cluster.provision(waiting)
    assert cluster.scheduled("pod") is bool(size)
    assert not size or cluster.labels("pod")[TYPE] == size
