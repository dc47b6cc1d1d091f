"""Deployments: which ReplicaSet holds their pods, whatever was wanted before."""

from __future__ import annotations

import json
from typing import Any

from harness.testing import deployment
from tests.memory_cluster.conftest import Cluster, memory_cluster
from tests.memory_cluster.running import run_pods


def _holding(cluster: Cluster) -> dict[str, int]:
    """The ReplicaSets that want pods, by name."""
    sets = cluster.view.list("ReplicaSet")
    return {each["metadata"]["name"]: each["spec"]["replicas"] for each in sets if each["spec"]["replicas"]}


def _write(cluster: Cluster, obj: Any) -> dict[str, int]:
    if cluster.view.get("Deployment", obj["metadata"]["name"], "default") is None:
        cluster.admin.create(obj)
    else:
        cluster.admin.update(obj)
    cluster.settle()
    return _holding(cluster)


def test_another_template_has_another_replica_set_and_the_first_one_its_own_again(cluster: Cluster) -> None:
    run_pods(cluster)
    first = _write(cluster, deployment("web", 3, "1"))
    assert list(first.values()) == [3]
    second = _write(cluster, deployment("web", 3, "2"))
    assert list(second.values()) == [3]
    assert second.keys() != first.keys()
    assert _write(cluster, deployment("web", 3, "1")) == first
    assert _write(cluster, deployment("web", 5, "1")) == dict.fromkeys(first, 5)


def test_a_deployment_that_is_made_again_owns_its_own_replica_set(cluster: Cluster) -> None:
    _write(cluster, deployment("web", 2, "1"))
    cluster.admin.delete("Deployment", "web", namespace="default")
    cluster.settle()
    assert cluster.view.list("ReplicaSet") == []
    _write(cluster, deployment("web", 2, "1"))
    owner = cluster.view.get("Deployment", "web", "default")
    assert owner is not None
    (only,) = cluster.view.list("ReplicaSet")
    assert only["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]


def test_a_template_that_says_the_same_in_another_order_is_the_same() -> None:
    """pkg/controller/deployment/util EqualIgnoreHash compares values."""
    one = deployment("web", 3, "1")
    other = json.loads(json.dumps(one), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    first, second = (_write(memory_cluster(), each) for each in (one, other))
    assert first == second


def test_a_replica_set_selects_what_its_deployment_does_and_the_template(cluster: Cluster) -> None:
    """pkg/controller/deployment/sync.go getNewReplicaSet: the hash is added to the selector and to the labels of the pods."""
    made = deployment("web", 2, "1")
    expression = {"key": "tier", "operator": "DoesNotExist"}
    made["spec"]["selector"]["matchExpressions"] = [expression]
    _write(cluster, made)
    (only,) = cluster.view.list("ReplicaSet")
    assert only["metadata"]["name"] == f"web-{only['metadata']['labels']['pod-template-hash']}"
    labels = {"app": "web", "pod-template-hash": only["metadata"]["labels"]["pod-template-hash"]}
    assert only["spec"]["selector"] == {"matchLabels": labels, "matchExpressions": [expression]}
    assert only["metadata"]["labels"] == only["spec"]["template"]["metadata"]["labels"] == labels
    assert [each["metadata"]["labels"] for each in cluster.view.list("Pod")] == [labels] * 2


def test_a_deployment_says_how_many_of_its_pods_are_ready_and_makes_a_lost_replica_set_anew(cluster: Cluster) -> None:
    """Source: kubernetes pkg/controller/deployment/deployment_controller.go (updateReplicaSet, deleteReplicaSet)."""
    (name,) = _write(cluster, deployment("web", 2, "1"))
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    first = cluster.view.list("Pod")[0]["metadata"]["name"]
    cluster.admin.patch("Pod", first, ready, namespace="default", subresource="status")
    cluster.settle()
    stored = cluster.view.get("Deployment", "web", "default")
    assert stored is not None
    assert {key: stored["status"][key] for key in ("replicas", "readyReplicas", "updatedReplicas")} == {
        "replicas": 2,
        "readyReplicas": 1,
        "updatedReplicas": 2,
    }
    before = cluster.view.get("ReplicaSet", name, "default")
    cluster.admin.delete("ReplicaSet", name, namespace="default")
    cluster.settle()
    after = cluster.view.get("ReplicaSet", name, "default")
    assert before is not None
    assert after is not None
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
