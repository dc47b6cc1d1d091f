"""Claims that are in use stay, and those of StatefulSets go with whom their policy says."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import finalizers_of, is_terminating, name_of, owners_of
from harness.testing import node, pod
from tests.memory_cluster.conftest import Cluster
from tests.memory_cluster.running import run_pods

Object = dict[str, Any]


def claim(name: str = "data") -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def volume() -> Object:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "h"},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}


def using(name: str = "data", **spec: Any) -> Object:
    return pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}], **spec)


def claims(cluster: Cluster) -> list[str]:
    return sorted(name_of(each) for each in cluster.view.list("PersistentVolumeClaim"))


def test_a_claim_that_nobody_uses_goes(cluster: Cluster) -> None:
    made = cluster.admin.create(claim())
    assert list(finalizers_of(made)) == ["kubernetes.io/pvc-protection"]
    cluster.admin.delete("PersistentVolumeClaim", "data", namespace="default")
    cluster.settle()
    assert claims(cluster) == []


def test_a_claim_of_a_pod_that_has_a_node_waits_for_its_end(cluster: Cluster) -> None:
    cluster.admin.create(node("n"))
    cluster.admin.create(claim())
    cluster.admin.create(using(nodeName="n"))
    cluster.admin.delete("PersistentVolumeClaim", "data", namespace="default")
    cluster.settle()
    (left,) = cluster.view.list("PersistentVolumeClaim")
    assert is_terminating(left)
    cluster.admin.delete("Pod", "p", namespace="default", grace_period_seconds=0)
    cluster.settle()
    assert claims(cluster) == []


def test_a_pod_without_a_node_holds_no_claim(cluster: Cluster) -> None:
    cluster.admin.create(claim())
    cluster.admin.create(using())
    cluster.admin.delete("PersistentVolumeClaim", "data", namespace="default")
    cluster.settle()
    assert claims(cluster) == []


def test_a_volume_waits_for_its_claim(cluster: Cluster) -> None:
    made = cluster.admin.create(volume())
    assert list(finalizers_of(made)) == ["kubernetes.io/pv-protection"]
    cluster.admin.create(claim())
    cluster.settle()
    cluster.admin.delete("PersistentVolume", "pv")
    cluster.settle()
    assert [name_of(each) for each in cluster.view.list("PersistentVolume")] == ["pv"]
    cluster.admin.delete("PersistentVolumeClaim", "data", namespace="default")
    cluster.settle()
    assert cluster.view.list("PersistentVolume") == []


def stateful_set(**policy: str) -> Object:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
    claims = [{"metadata": {"name": "data"}, "spec": claim()["spec"]}]
    spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    spec |= {"volumeClaimTemplates": claims, "podManagementPolicy": "Parallel"}
    if policy:
        spec["persistentVolumeClaimRetentionPolicy"] = policy
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("policy", "owned", "scaled", "deleted"),
    [
        ({}, False, ["data-db-0", "data-db-1"], ["data-db-0", "data-db-1"]),
        ({"whenDeleted": "Delete", "whenScaled": "Retain"}, True, ["data-db-0", "data-db-1"], []),
        ({"whenDeleted": "Retain", "whenScaled": "Delete"}, False, ["data-db-0"], ["data-db-0"]),
        ({"whenDeleted": "Delete", "whenScaled": "Delete"}, True, ["data-db-0"], []),
    ],
)
def test_the_claims_of_a_stateful_set(
    cluster: Cluster, policy: dict[str, str], owned: bool, scaled: list[str], deleted: list[str]
) -> None:
    """pkg/controller/statefulset/stateful_set_utils.go (updateClaimOwnerRefForSetAndPod)."""
    for number in range(2):
        made = volume()
        made["metadata"]["name"] = f"pv-{number}"
        cluster.admin.create(made)
    run_pods(cluster)
    cluster.admin.create(stateful_set(**policy))
    cluster.settle()
    owners = [[owner["kind"] for owner in owners_of(each)] for each in cluster.view.list("PersistentVolumeClaim")]
    assert owners == [["StatefulSet"] if owned else []] * 2
    cluster.admin.patch("StatefulSet", "db", {"spec": {"replicas": 1}}, namespace="default")
    cluster.settle()
    assert claims(cluster) == scaled
    cluster.admin.delete("StatefulSet", "db", namespace="default")
    cluster.settle()
    assert claims(cluster) == deleted
