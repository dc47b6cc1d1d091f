"""Deployments: which ReplicaSet holds their pods, whatever was wanted before."""

from __future__ import annotations

from typing import Any

from harness.testing import deployment
from tests.memory_cluster.conftest import Cluster


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
