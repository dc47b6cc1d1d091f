"""What NodePools and pods require of Nodes. Source: core pkg/controllers/provisioning/scheduling/suite_test.go, Custom Constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.releases import provider
from tests.scheduling.upstream.asking import RELEASE
from tests.scheduling.upstream.cloud import ARCH, CAPACITY, CPU, HOST, OS, TYPE, ZONE, ZONES
from tests.scheduling.upstream.objects import need, nodepool, pod
from tests.scheduling.upstream.trial import Trial, allows

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

VOCABULARY = provider(RELEASE).vocabulary
LABELLED = nodepool(labels={"test-key": "test-value"})
REQUIRING = nodepool("default", need("test-key", "In", "test-value"))
PLAIN = nodepool()
ALL_ZONES = need(ZONE, "In", *ZONES, "unknown")
NAMED = {"test-key": "test-value"}


def zones(*names: str) -> Json:
    return nodepool("default", need(ZONE, "In", *names))


def bounded(operator: str, value: str) -> Json:
    return nodepool("default", need(CPU, operator, value))


def wants(*needs: Json, prefers: tuple[Json, ...] = (), selector: Json | None = None) -> Json:
    return pod(needs=needs, prefers=prefers, **({"nodeSelector": selector} if selector else {}))


def required(waiting: Json) -> list[Json]:
    affinity = waiting["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []})[
        "nodeSelectorTerms"
    ]
    return [each for term in terms for each in term["matchExpressions"]]


ONE_POD: list[tuple[str, Json, Json, dict[str, str] | None]] = [
    # upstream's name, NodePool, pod, labels of the Node (None: it stays pending)
    ("should schedule unconstrained pods that don't have matching node selectors", LABELLED, wants(), NAMED),
    (
        "should not schedule pods that have conflicting node selectors",
        LABELLED,
        wants(selector={"test-key": "other"}),
        None,
    ),
    ("should not schedule pods that have node selectors with undefined key", PLAIN, wants(selector=NAMED), None),
    (
        "should schedule pods that have matching requirements",
        LABELLED,
        wants(need("test-key", "In", "test-value", "another-value")),
        NAMED,
    ),
    (
        "should not schedule pods that have conflicting requirements",
        LABELLED,
        wants(need("test-key", "In", "another-value")),
        None,
    ),
    ("should use NodePool constraints", zones("test-zone-2"), wants(), {ZONE: "test-zone-2"}),
    (
        "should use node selectors",
        zones("test-zone-1", "test-zone-2"),
        wants(selector={ZONE: "test-zone-2"}),
        {ZONE: "test-zone-2"},
    ),
    ("should not schedule nodes with a hostname selector", PLAIN, wants(selector={HOST: "red-node"}), None),
    ("should not schedule the pod if nodeselector unknown", zones("test-zone-1"), wants(selector={ZONE: "no"}), None),
    (
        "should not schedule if node selector outside of NodePool constraints",
        zones("test-zone-1"),
        wants(selector={ZONE: "test-zone-2"}),
        None,
    ),
    (
        "should schedule compatible requirements with Operator=In",
        PLAIN,
        wants(need(ZONE, "In", "test-zone-3")),
        {ZONE: "test-zone-3"},
    ),
    ("should schedule compatible requirements with Operator=Gt", bounded("Gt", "8"), wants(), {CPU: "16"}),
    ("should schedule compatible requirements with Operator=Lt", bounded("Lt", "8"), wants(), {CPU: "2"}),
    ("should schedule compatible requirements with Operator=Gte", bounded("Gte", "16"), wants(), {CPU: "16"}),
    ("should schedule compatible requirements with Operator=Lte", bounded("Lte", "2"), wants(), {CPU: "2"}),
    (
        "should schedule compatible requirements with Operator=NotIn",
        PLAIN,
        wants(need(ZONE, "NotIn", "test-zone-1", "test-zone-2", "unknown")),
        {ZONE: "test-zone-3"},
    ),
    (
        "should not schedule incompatible preferences and requirements with Operator=In",
        PLAIN,
        wants(need(ZONE, "In", "unknown")),
        None,
    ),
    (
        "should not schedule incompatible preferences and requirements with Operator=NotIn",
        PLAIN,
        wants(need(ZONE, "NotIn", *ZONES, "unknown")),
        None,
    ),
    (
        "should schedule compatible preferences and requirements with Operator=In",
        PLAIN,
        wants(ALL_ZONES, prefers=(need(ZONE, "In", "test-zone-2", "unknown"),)),
        {ZONE: "test-zone-2"},
    ),
    (
        "should schedule incompatible preferences and requirements with Operator=In",
        PLAIN,
        wants(ALL_ZONES, prefers=(need(ZONE, "In", "unknown"),)),
        {},
    ),
    (
        "should schedule compatible preferences and requirements with Operator=NotIn",
        PLAIN,
        wants(ALL_ZONES, prefers=(need(ZONE, "NotIn", "test-zone-1", "test-zone-3"),)),
        {ZONE: "test-zone-2"},
    ),
    (
        "should schedule incompatible preferences and requirements with Operator=NotIn",
        PLAIN,
        wants(ALL_ZONES, prefers=(need(ZONE, "NotIn", *ZONES),)),
        {},
    ),
    (
        "should schedule compatible node selectors, preferences and requirements",
        PLAIN,
        wants(need(ZONE, "In", *ZONES), prefers=(need(ZONE, "In", *ZONES),), selector={ZONE: "test-zone-3"}),
        {ZONE: "test-zone-3"},
    ),
    (
        "should combine multidimensional node selectors, preferences and requirements",
        PLAIN,
        wants(
            need(ZONE, "In", "test-zone-1", "test-zone-3"),
            need(TYPE, "In", "default-instance-type", "arm-instance-type"),
            prefers=(need(ZONE, "NotIn", "unknown"), need(TYPE, "NotIn", "unknown")),
            selector={ZONE: "test-zone-3", TYPE: "arm-instance-type"},
        ),
        {ZONE: "test-zone-3", TYPE: "arm-instance-type"},
    ),
    (
        "should not schedule pods that have node selectors with In operator and undefined key",
        PLAIN,
        wants(need("test-key", "In", "test-value")),
        None,
    ),
    (
        "should schedule pods that have node selectors with NotIn operator and undefined key",
        PLAIN,
        wants(need("test-key", "NotIn", "test-value")),
        {},
    ),
    (
        "should not schedule pods that have node selectors with Exists operator and undefined key",
        PLAIN,
        wants(need("test-key", "Exists")),
        None,
    ),
    (
        "should schedule pods that with DoesNotExists operator and undefined key",
        PLAIN,
        wants(need("test-key", "DoesNotExist")),
        {"test-key": ""},
    ),
    (
        "should schedule pods that have node selectors with matching value and In operator",
        REQUIRING,
        wants(need("test-key", "In", "test-value")),
        NAMED,
    ),
    (
        "should not schedule pods that have node selectors with matching value and NotIn operator",
        REQUIRING,
        wants(need("test-key", "NotIn", "test-value")),
        None,
    ),
    (
        "should schedule the pod with Exists operator and defined key",
        REQUIRING,
        wants(need("test-key", "Exists")),
        NAMED,
    ),
    (
        "should not schedule the pod with DoesNotExists operator and defined key",
        REQUIRING,
        wants(need("test-key", "DoesNotExist")),
        None,
    ),
    (
        "should not schedule pods that have node selectors with different value and In operator",
        REQUIRING,
        wants(need("test-key", "In", "another-value")),
        None,
    ),
    (
        "should schedule pods that have node selectors with different value and NotIn operator",
        REQUIRING,
        wants(need("test-key", "NotIn", "another-value")),
        NAMED,
    ),
    (
        "Exists operator should not overwrite the existing value",
        PLAIN,
        wants(need(ZONE, "In", "non-existent-zone"), need(ZONE, "Exists")),
        None,
    ),
    (
        "should not schedule pods with nodePool which is not ready",
        nodepool(conditions=[{"type": "Ready", "status": "False", "reason": "NodePoolNotReady"}]),
        wants(),
        None,
    ),
]


@pytest.mark.parametrize(("pool", "waiting", "labels"), [pytest.param(*row[1:], id=row[0]) for row in ONE_POD])
def test_one_pod(trial: NewTrial, pool: Json, waiting: Json, labels: dict[str, str] | None) -> None:
    """An empty value says that the Node lacks the key."""
    cluster = trial(pool)
    plan = cluster.provision(waiting)
    assert cluster.scheduled("pod") is (labels is not None)
    if labels is None:
        assert not plan.claims
    else:
        found = cluster.labels("pod")
        assert {key: found.get(key, "") for key in labels} == labels
        assert all(
            allows(each, found.get(each["key"], "")) for each in required(waiting) if each["operator"] == "NotIn"
        )


def test_required_keys_of_a_nodepool_become_labels(trial: NewTrial) -> None:
    """The name "should schedule unconstrained pods that don't have matching node selectors" occurs twice."""
    cluster = trial(REQUIRING)
    cluster.provision(pod())
    assert cluster.labels("pod")["test-key"] == "test-value"


RESTRICTED = sorted(VOCABULARY.restricted_labels)
DOMAINS = sorted({*VOCABULARY.restricted_domains} | {"karpenter.sh", "karpenter.azure.com"})


@pytest.mark.parametrize(
    "key",
    [
        *(
            pytest.param(key, id=f"should not schedule pods that have node selectors with restricted labels: {key}")
            for key in RESTRICTED
        ),
        *(
            pytest.param(
                f"{domain}/test",
                id=f"should not schedule pods that have node selectors with restricted domains: {domain}",
            )
            for domain in DOMAINS
        ),
    ],
)
def test_restricted_keys(trial: NewTrial, key: str) -> None:
    plan = trial().provision(wants(need(key, "In", "test")))
    assert not plan.claims
    assert plan.error("pod")


@pytest.mark.parametrize(
    "prefix",
    [
        pytest.param("", id="should schedule pods that have node selectors with label in the kubernetes domains"),
        pytest.param(
            "subdomain.",
            id="should schedule pods that have node selectors with label in subdomain from kubernetes domains",
        ),
    ],
)
def test_keys_of_kubernetes_domains(trial: NewTrial, prefix: str) -> None:
    keys = [f"{prefix}{domain}/test" for domain in ("kubernetes.io", "k8s.io")]
    cluster = trial(nodepool("default", *(need(key, "In", "test-value") for key in keys)))
    cluster.provision(pod())
    assert {key: cluster.labels("pod")[key] for key in keys} == dict.fromkeys(keys, "test-value")


def test_well_known_keys(trial: NewTrial) -> None:
    """should schedule pods that have node selectors with label in wellknown label list"""
    selectors = {ZONE: "test-zone-1", TYPE: "default-instance-type", ARCH: "arm64", OS: "linux", CAPACITY: "spot"}
    cluster = trial()
    cluster.provision(*(pod(f"p{n}", nodeSelector={key: value}) for n, (key, value) in enumerate(selectors.items())))
    for number, (key, value) in enumerate(selectors.items()):
        # a size of several systems has each of them; the label of the Node is the fake cloud's choice
        assert key == OS or cluster.labels(f"p{number}")[key] == value


@pytest.mark.parametrize(
    ("second", "labels"),
    [
        pytest.param(
            need("test-key", "NotIn", "another-value"),
            ["test-value"],
            id="should schedule compatible pods to the same node",
        ),
        pytest.param(
            need("test-key", "In", "another-value"),
            ["test-value", "another-value"],
            id="should schedule incompatible pods to the different node",
        ),
    ],
)
def test_two_pods(trial: NewTrial, second: Json, labels: list[str]) -> None:
    cluster = trial(nodepool("default", need("test-key", "In", "test-value", "another-value")))
    plan = cluster.provision(pod("a", needs=[need("test-key", "In", "test-value")]), pod("b", needs=[second]))
    assert len(plan.claims) == len(labels)
    assert [cluster.labels("a")["test-key"], cluster.labels("b")["test-key"]] == [labels[0], labels[-1]]
