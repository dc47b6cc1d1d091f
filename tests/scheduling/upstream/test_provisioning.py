"""Batches, limits, what a NodeClaim asks for. Source: core pkg/controllers/provisioning/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.validation.hashing import nodepool_hash
from tests.scheduling.upstream.cloud import (
    ARCH,
    CATALOGS,
    GPU,
    HOST,
    OS,
    TYPE,
)
from tests.scheduling.upstream.objects import affinity, near, need, nodepool, pod, pods, taint, tolerate
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

APART = {"labels": {"app": "foo"}, "affinity": affinity(apart=[near(HOST, {"app": "foo"})])}


@pytest.mark.parametrize(
    ("triggers", "ends"),
    [
        pytest.param(
            [(0, "a")], 5, id="should provision single pod if no other pod is received within the batch idle duration"
        ),
        pytest.param(
            [(0, "a"), (3, "a")],
            5,
            id="should not extend the timeout if we receive the same pod within the batch idle duration",
        ),
        pytest.param(
            [(0, "a"), (3, "b")],
            8,
            id="should extend the timeout if we receive a new pod within the batch idle duration",
        ),
        pytest.param([(0, "a"), (4, "b"), (8, "c")], 10, id="and no longer than the batch may last"),
    ],
)
def test_batches(triggers: list[tuple[int, str]], ends: int) -> None:
    """The window ends so many seconds after its first trigger."""
    clock = Clock()
    batcher = Batcher(clock, idle=5, longest=10)
    for moment, uid in triggers:
        clock.advance_to(moment * SECOND)
        assert batcher.trigger(uid) is (moment == 0)
    assert clock.now + batcher.left() == ends * SECOND
    clock.advance_to(ends * SECOND)
    assert batcher.left() == 0


def test_a_hundred_pods(trial: NewTrial) -> None:
    """Should provision nodes for multiple pods"""
    plan = trial().provision(*pods(100))
    assert sum(len(group) for group in plan.groups()) == 100
    assert not plan.answer["errors"]


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["karpenter.sh/termination"]}


@pytest.mark.parametrize(
    "pools",
    [
        pytest.param([nodepool(metadata=GOING)], id="should ignore NodePools that are deleting"),
        pytest.param([nodepool(replicas=2, limits=None)], id="should not create NodeClaims for StaticNodePool"),
        pytest.param([], id="should mark pod as unschedulable if there are no valid nodepools"),
    ],
)
def test_no_nodepool(trial: NewTrial, pools: list[Json]) -> None:
    cluster = trial()
    cluster.pools[:] = pools
    plan = cluster.provision(pod())
    assert not plan.claims
    assert not cluster.scheduled("pod")


HASH = "karpenter.sh/nodepool-hash"


def test_the_hash_is_that_of_the_nodepool_that_was_simulated(trial: NewTrial) -> None:
    """should not use a different NodePool hash on the NodeClaim if the NodePool changes during scheduling"""
    pool = nodepool(labels={"a": "b"})
    (claim,) = trial(pool).provision(pod()).claims
    assert claim["nodeclaim"]["metadata"]["annotations"][HASH] == nodepool_hash(pool)
    pool["spec"]["template"]["metadata"]["labels"]["new-label"] = "new-value"
    assert claim["nodeclaim"]["metadata"]["annotations"][HASH] != nodepool_hash(pool)


def test_pods_of_a_node_that_is_deleted(trial: NewTrial) -> None:
    """should schedule all pods on one inflight node when node is in deleting state"""
    cluster = trial()
    cluster.nodes["old"] = {
        "metadata": {
            "name": "old",
            "labels": {"karpenter.sh/nodepool": "default", TYPE: "default-instance-type"},
            **GOING,
        },
        "spec": {"providerID": "fake:///old"},
        "status": {},
    }
    for each in pods(3, "old", on="old"):
        cluster.pods[f"default/{each['metadata']['name']}"] = each
    plan = cluster.provision(*pods(2, "new"), bind=False)
    assert plan.groups() == [["new-00", "new-01", "old-00", "old-01", "old-02"]]


def limited(**limits: str) -> Json:
    return nodepool(limits=limits)


@pytest.mark.parametrize(
    ("limits", "waiting", "placed", "text"),
    [
        pytest.param(
            {"cpu": "2"}, [pod(requests={"cpu": "1750m"})], 1, "", id="should schedule if limits would be met"
        ),
        pytest.param(
            {"cpu": "2"},
            [pod(requests={"cpu": "2100m"})],
            0,
            "no instance type",
            id="should not schedule if limits would be exceeded",
        ),
        pytest.param(
            {"cpu": "3"},
            pods(2, requests={"cpu": "1500m"}, **APART),
            1,
            "exceed limits for nodepool",
            id="should partially schedule if limits would be exceeded",
        ),
        pytest.param(
            {"pods": "1"},
            [pod(limits={GPU: "1"})],
            0,
            "no instance type",
            id="should not schedule if limits would be exceeded (GPU)",
        ),
    ],
)
def test_limits(trial: NewTrial, limits: Json, waiting: list[Json], placed: int, text: str) -> None:
    plan = trial(limited(**limits)).provision(*waiting)
    assert len(plan.placed) == placed
    assert all(text in error for error in plan.answer["errors"].values())


def test_limits_that_are_exceeded_already(trial: NewTrial) -> None:
    """should not schedule when limits are exceeded"""
    cluster = trial(limited(cpu="20"))
    cluster.nodeclaims["there"] = {
        "metadata": {"name": "there", "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {},
        "status": {"providerID": "fake:///there", "capacity": {"cpu": "100"}},
    }
    assert "exceed limits for nodepool" in cluster.provision(pod()).error("pod")


@pytest.mark.parametrize(
    ("limits", "rounds"),
    [
        pytest.param(
            {"cpu": "2"},
            [True, False],
            id="should not schedule to a nodepool after a scheduling round if limits would be exceeded",
        ),
        pytest.param({"nodes": "2"}, [True, True, False], id="should not schedule if limits would be exceeded (node)"),
    ],
)
def test_limits_round_by_round(trial: NewTrial, limits: Json, rounds: list[bool]) -> None:
    cluster = trial(limited(**limits))
    for turn, fits in enumerate(rounds):
        cluster.provision(pod(f"pod-{turn}", requests={"cpu": "1500m"}, **APART))
        assert cluster.scheduled(f"pod-{turn}") is fits


def test_annotations(trial: NewTrial) -> None:
    """should annotate nodes"""
    pool = nodepool()
    pool["spec"]["template"]["metadata"] = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
    cluster = trial(pool)
    cluster.provision(pod())
    assert cluster.node("pod")["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"


def test_labels(trial: NewTrial) -> None:
    """should label nodes"""
    requirements = [
        need("test-key-2", "In", "test-value-2"),
        need("test-key-3", "NotIn", "test-value-3"),
        need("test-key-4", "Lt", "4"),
        need("test-key-5", "Gt", "5"),
        need("test-key-6", "Exists"),
        need("test-key-7", "DoesNotExist"),
    ]
    cluster = trial(nodepool("default", *requirements, labels={"test-key-1": "test-value-1"}))
    cluster.provision(pod())
    found = cluster.labels("pod")
    assert found["karpenter.sh/nodepool"] == "default"
    assert (found["test-key-1"], found["test-key-2"]) == ("test-value-1", "test-value-2")
    assert {f"test-key-{number}" for number in range(3, 8)} & {*found} == {
        f"test-key-{number}" for number in range(3, 7)
    }
    assert found["test-key-3"] != "test-value-3"


def test_well_known_keys_are_no_labels(trial: NewTrial) -> None:
    """should not label nodes with well-known labels from requirements"""
    build = "node.kubernetes.io/windows-build"
    cluster = trial(nodepool("default", need("foo", "In", "bar"), need(build, "NotIn", "test-value")))
    cluster.provision(pod())
    assert cluster.labels("pod")["foo"] == "bar"
    assert build not in cluster.labels("pod")


@pytest.mark.parametrize("prefix", ["", "subdomain."])
@pytest.mark.parametrize("domain", ["kubernetes.io", "k8s.io"])
def test_labels_of_kubernetes_domains(trial: NewTrial, domain: str, prefix: str) -> None:
    """should label nodes with labels in the kubernetes domains; in the subdomain from kubernetes domains"""
    key = f"{prefix}{domain}/test"
    cluster = trial(nodepool(labels={key: "test-value"}))
    cluster.provision(pod(needs=[need(key, "In", "test-value")]))
    assert cluster.labels("pod")[key] == "test-value"


def test_tolerations(trial: NewTrial) -> None:
    """should schedule pods that tolerate taints"""
    ways = [
        tolerate("nvidia.com/gpu", "true", "NoSchedule"),
        tolerate("nvidia.com/gpu", effect="NoSchedule"),
        tolerate("nvidia.com/gpu"),
        {"operator": "Exists"},
    ]
    waiting = [pod(f"pod-{number}", tolerations=[way]) for number, way in enumerate(ways)]
    plan = trial(nodepool(taints=[taint("nvidia.com/gpu", "true")])).provision(*waiting)
    assert len(plan.placed) == 4


ALL_TYPES = sorted(size["name"] for size in CATALOGS["usual"]())
CUSTOM = [need("custom-requirement-key", "In", "value"), need("custom-requirement-key2", "In", "value")]


@pytest.mark.parametrize(
    ("pool", "waiting", "values"),
    [
        pytest.param(
            nodepool(),
            pod(),
            {TYPE: ALL_TYPES, "karpenter.sh/nodepool": ["default"]},
            id="should create a nodeclaim request with expected requirements",
        ),
        pytest.param(
            nodepool("default", *CUSTOM),
            pod(),
            {TYPE: ALL_TYPES, "custom-requirement-key": ["value"], "custom-requirement-key2": ["value"]},
            id="should create a nodeclaim request with additional expected requirements",
        ),
        pytest.param(
            nodepool("default", need(ARCH, "In", "arm64")),
            pod(),
            {ARCH: ["arm64"], TYPE: ["arm-instance-type"]},
            id="should create a nodeclaim request restricting instance types on architecture",
        ),
        pytest.param(
            nodepool("default", need(OS, "In", "ios")),
            pod(),
            {OS: ["ios"], TYPE: ["arm-instance-type"]},
            id="should create a nodeclaim request restricting instance types on operating system",
        ),
        pytest.param(
            nodepool(),
            pod(limits={GPU: "1"}),
            {TYPE: ["gpu-vendor-instance-type"]},
            id="should create a nodeclaim request restricting instance types based on pod resource requests",
        ),
    ],
)
def test_requirements_of_a_nodeclaim(trial: NewTrial, pool: Json, waiting: Json, values: Json) -> None:
    plan = trial(pool).provision(waiting)
    for key, wanted in values.items():
        found = plan.requirement("pod", key)
        assert (found["operator"], sorted(found["values"])) == ("In", wanted)


def test_requests_of_a_nodeclaim(trial: NewTrial) -> None:
    """should create a nodeclaim with resource requests"""
    plan = trial().provision(pod(requests={"cpu": "1", "memory": "1Mi"}, limits={GPU: "1"}))
    requests = plan.claims[0]["nodeclaim"]["spec"]["resources"]["requests"]
    assert requests == {"cpu": "1", "memory": "1Mi", GPU: "1", "pods": "1"}


def test_the_node_class_of_a_nodeclaim(trial: NewTrial) -> None:
    """should create a nodeclaim request propagating the nodeClass reference"""
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "test"}
    plan = trial(nodepool(template={"nodeClassRef": reference})).provision(pod())
    assert plan.claims[0]["nodeclaim"]["spec"]["nodeClassRef"] == reference
