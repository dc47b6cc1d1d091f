"""Pods, nodes and who may do what to them, the same on every cluster."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pytest

from harness.engine.ports import SCHEDULER, ChangeType, Identity
from harness.kube.api.objects import condition
from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject
from tests.clusters.test_objects import refusal


def schedulable(cluster: Subject, name: str, cpu: str, **fields: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": cpu}}}
    selector = {"own": cluster.unique}
    return cluster.pod(name, schedulerName="default-scheduler", containers=[container], nodeSelector=selector, **fields)


def ready_node(cluster: Subject, name: str) -> str:
    node = cluster.create(cluster.node(name))["metadata"]["name"]

    def free() -> bool:
        found = cluster.view.get("Node", node)
        return found is not None and not (found["spec"].get("taints") or ())

    cluster.eventually(free, "the not-ready taint to go")
    return node


@pytest.mark.smoke
def test_a_pod_without_a_node_is_marked_unschedulable_and_bound_when_one_comes(cluster: Subject) -> None:
    cluster.admin.create(schedulable(cluster, "p", "1"))

    def marked() -> bool:
        found = condition(cluster.view.get("Pod", "p", cluster.namespace) or {}, "PodScheduled")
        return found is not None and (found["status"], found["reason"]) == ("False", "Unschedulable")

    cluster.eventually(marked, "the pod to be marked")
    node = ready_node(cluster, "n")

    def bound() -> bool:
        pod = cluster.view.get("Pod", "p", cluster.namespace) or {}
        return bool(pod["spec"].get("nodeName") == node)

    cluster.eventually(bound, "the pod to be bound")
    found = condition(cluster.view.get("Pod", "p", cluster.namespace) or {}, "PodScheduled")
    assert found is not None
    assert found["status"] == "True"


def test_a_node_that_is_full_takes_no_more(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    for name in ("a", "b"):
        cluster.admin.create(schedulable(cluster, name, "3"))

    def decided() -> bool:
        pods = cluster.view.list("Pod", namespace=cluster.namespace)
        nodes = [pod["spec"].get("nodeName") for pod in pods]
        others = [condition(pod, "PodScheduled") for pod in pods if not pod["spec"].get("nodeName")]
        return nodes.count(node) == 1 and len(others) == 1 and others[0] is not None

    cluster.eventually(decided, "one pod bound, one refused")


@pytest.mark.smoke
def test_bindings(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p"))
    scheduler = cluster.writer(SCHEDULER)
    scheduler.bind("p", cluster.namespace, "somewhere")
    cluster.step()
    pod = cluster.view.get("Pod", "p", cluster.namespace)
    assert pod is not None
    assert pod["spec"]["nodeName"] == "somewhere"
    error = refusal(scheduler.bind, "p", cluster.namespace, "elsewhere")
    why = 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "somewhere"'
    assert (error.code, error.reason, error.message) == (409, "Conflict", why)


def test_a_bound_pod_is_deleted_gracefully_and_its_kubelet_ends_it(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    kubelet = cluster.writer(Identity.node(node))
    cluster.admin.create(cluster.pod("p", nodeName=node))
    marked = cluster.admin.delete("Pod", "p", namespace=cluster.namespace)
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert cluster.view.get("Pod", "p", cluster.namespace) is not None

    def ended() -> bool:
        # NodeRestriction judges by a cache that is a moment behind
        with suppress(ApiError):
            kubelet.delete("Pod", "p", namespace=cluster.namespace, grace_period_seconds=0)
        return cluster.view.get("Pod", "p", cluster.namespace) is None

    cluster.eventually(ended, "the pod to be gone")


def test_a_pod_without_a_node_goes_at_once(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p"))
    cluster.admin.delete("Pod", "p", namespace=cluster.namespace)
    cluster.step()
    assert cluster.view.get("Pod", "p", cluster.namespace) is None


def running(cluster: Subject, name: str, node: str) -> None:
    cluster.admin.create(cluster.pod(name, nodeName=node))
    when = "2026-01-01T00:00:00Z"
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": when} for kind in ("Ready", "ContainersReady")]
    cluster.admin.patch(
        "Pod",
        name,
        {"status": {"phase": "Running", "conditions": conditions}},
        namespace=cluster.namespace,
        type="strategic",
        subresource="status",
    )


@pytest.mark.smoke
def test_evictions_ask_the_budget(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    running(cluster, "p", node)
    meta = {"name": "b", "namespace": cluster.namespace}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "p"}}}
    cluster.admin.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec})

    def counted() -> bool:
        found = cluster.view.get("PodDisruptionBudget", "b", cluster.namespace) or {}
        return bool((found.get("status") or {}).get("currentHealthy") == 1)

    cluster.eventually(counted, "the budget to be counted")
    error = refusal(cluster.admin.evict, "p", cluster.namespace)
    why = "Cannot evict pod as it would violate the pod's disruption budget."
    assert (error.code, error.reason, error.message) == (429, "TooManyRequests", why)
    causes = error.details["causes"]
    assert causes == [
        {"reason": "DisruptionBudget", "message": "The disruption budget b needs 1 healthy pods and has 1 currently"}
    ]
    cluster.admin.delete("PodDisruptionBudget", "b", namespace=cluster.namespace)
    cluster.eventually(
        lambda: cluster.view.get("PodDisruptionBudget", "b", cluster.namespace) is None, "the budget to be gone"
    )
    cluster.admin.evict("p", cluster.namespace)
    cluster.step()
    found = cluster.view.get("Pod", "p", cluster.namespace)
    assert found is None or found["metadata"]["deletionTimestamp"]


KUBELET_REFUSALS = [
    (
        {"metadata": {"labels": {"node-restriction.kubernetes.io/x": "1", "kubernetes.io/foo": "1"}}},
        "is not allowed to modify labels: kubernetes.io/foo, node-restriction.kubernetes.io/x",
    ),
    ({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, 'node "{node}" is not allowed to modify taints'),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("patch", "why"), KUBELET_REFUSALS, ids=["labels", "taints"])
def test_what_a_kubelet_may_not_change(cluster: Subject, patch: dict[str, Any], why: str) -> None:
    node = ready_node(cluster, "n")
    error = refusal(cluster.writer(Identity.node(node)).patch, "Node", node, patch)
    message = f'nodes "{node}" is forbidden: {why.format(node=node)}'
    assert (error.code, error.reason, error.message) == (403, "Forbidden", message)


@pytest.mark.smoke
def test_what_a_kubelet_may_not_create(cluster: Subject) -> None:
    node = cluster.node("n")
    node["metadata"]["labels"] |= {"node-role.kubernetes.io/worker": "", "karpenter.sh/nodepool": "default"}
    name = node["metadata"]["name"]
    kubelet = cluster.writer(Identity.node(name))
    error = refusal(kubelet.create, node)
    why = f'node "{name}" is not allowed to set the following labels: node-role.kubernetes.io/worker'
    assert (error.code, error.message) == (403, f'nodes "{name}" is forbidden: {why}')
    del node["metadata"]["labels"]["node-role.kubernetes.io/worker"]
    kubelet.create(node)
    cluster.made.append(("Node", name))
    other = refusal(kubelet.patch, "Node", cluster.named("other"), {"metadata": {"labels": {"a": "b"}}})
    assert other.code in (403, 404)


@pytest.mark.smoke
def test_evidence_says_who_wrote_what(cluster: Subject) -> None:
    node = cluster.node("n")
    name = node["metadata"]["name"]
    kubelet = cluster.writer(Identity.node(name))
    kubelet.create(node)
    cluster.made.append(("Node", name))
    refusal(kubelet.patch, "Node", name, {"metadata": {"labels": {"kubernetes.io/foo": "x"}}})
    cluster.admin.patch("Node", name, {"metadata": {"labels": {"team": "a"}}})
    cluster.step()
    ours = [
        each for each in cluster.evidence(name) if each.identity.user in (kubelet.identity.user, "kubernetes-admin")
    ]
    assert [(each.identity.by, each.error is not None) for each in ours] == [
        ("kubelet", False),
        ("kubelet", True),
        ("other", False),
    ]
    assert ours[0].before is None
    last = ours[2]
    assert last.before is not None
    assert last.after is not None
    assert "team" not in last.before["metadata"]["labels"]
    assert last.after["metadata"]["labels"]["team"] == "a"


@pytest.mark.smoke
def test_watching_goes_on_where_it_was(cluster: Subject) -> None:
    cluster.step()
    since = cluster.view.revision
    cluster.admin.create(cluster.pod("a"))
    cluster.admin.patch("Pod", "a", {"metadata": {"labels": {"x": "y"}}}, namespace=cluster.namespace)
    cluster.admin.delete("Pod", "a", namespace=cluster.namespace)

    def heard() -> bool:
        types = [
            change.type
            for change in cluster.view.changes(since, "Pod")
            if change.object["metadata"]["namespace"] == cluster.namespace
        ]
        return types[:1] == [ChangeType.ADDED] and types[-1:] == [ChangeType.DELETED] and ChangeType.MODIFIED in types

    cluster.eventually(heard, "the three changes")


SELECTORS = [
    ({"labels": {"app": "a"}}, {"a"}),
    ({"labels": "app in (a,b)"}, {"a", "b"}),
    ({"labels": "app notin (a),tier"}, {"b"}),
    ({"labels": "!tier"}, {"a", "c"}),
    ({"fields": "metadata.name=c"}, {"c"}),
    ({"fields": {"spec.nodeName": "elsewhere"}}, {"b"}),
    ({"fields": "status.phase!=Pending"}, set()),
]


@pytest.mark.parametrize(("selector", "names"), SELECTORS, ids=[str(row[0]) for row in SELECTORS])
def test_selectors(cluster: Subject, selector: dict[str, Any], names: set[str]) -> None:
    cluster.admin.create(cluster.pod("a"))
    labelled = cluster.pod("b", nodeName="elsewhere")
    labelled["metadata"]["labels"]["tier"] = "1"
    cluster.admin.create(labelled)
    cluster.admin.create(cluster.pod("c"))
    cluster.step()
    found = {each["metadata"]["name"] for each in cluster.view.list("Pod", namespace=cluster.namespace, **selector)}
    assert found == names


POOLS: list[tuple[str, dict[str, Any], dict[str, str], list[str]]] = [
    (
        "label",
        {},
        {"kubernetes.azure.com/foo": "x", "agentpool": "y"},
        [
            'spec.template.metadata.labels: Invalid value: label "agentpool" is restricted',
            'spec.template.metadata.labels: Invalid value: label domain "kubernetes.azure.com" is restricted',
        ],
    ),
    (
        "requirement",
        {"key": "kubernetes.azure.com/foo", "operator": "Exists"},
        {},
        [
            'spec.template.spec.requirements[0].key: Invalid value: "kubernetes.azure.com/foo": '
            'label domain "kubernetes.azure.com" is restricted'
        ],
    ),
    (
        "operator",
        {"key": "a", "operator": "Gt", "values": ["x"]},
        {},
        [
            "spec.template.spec.requirements: Invalid value: \"array\": type conversion error from 'string' to 'int' evaluating rule: "
            "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
        ],
    ),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("requirement", "labels", "why"), [row[1:] for row in POOLS], ids=[row[0] for row in POOLS])
def test_karpenters_rules(
    cluster: Subject, requirement: dict[str, Any], labels: dict[str, str], why: list[str]
) -> None:
    pool = cluster.nodepool("pool", *([requirement] if requirement else []), labels=labels)
    error = refusal(cluster.admin.create, pool)
    assert (error.code, error.reason) == (422, "Invalid")
    # the API server walks its rules in Go's map order
    assert sorted(f"{each['field']}: {each['message']}" for each in error.details["causes"]) == why
    assert error.message.startswith(f'NodePool.karpenter.sh "{pool["metadata"]["name"]}" is invalid: ')
    assert {each.layer for each in error.cause} == {"crd-cel"}
    assert {each.key for each in error.cause} == ({*labels} or {requirement["key"]})
    # the reason alone: neither the field nor the value, which is quoted
    assert {each.message for each in error.cause} == {
        re.split(r"Invalid value: (?:\"[^\"]*\": )?", line)[1] for line in why
    }


def test_defaults_of_nodepools(cluster: Subject) -> None:
    pool = cluster.create(cluster.nodepool("pool"))
    assert pool["spec"]["disruption"] == {
        "budgets": [{"nodes": "10%"}],
        "consolidateAfter": "0s",
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
    }
    assert pool["spec"]["template"]["spec"]["expireAfter"] == "720h"
