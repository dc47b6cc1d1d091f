"""ReplicationControllers: the controller of ReplicaSets keeps their pods, by a selector that is a map of labels.

Source: kubernetes pkg/controller/replication/conversion.go, pkg/apis/core/v1/defaults.go (SetDefaults_ReplicationController).
"""

from __future__ import annotations

from typing import Any

from harness.kube.api.objects import controller_of, is_terminating
from harness.testing import pod
from tests.memory_cluster.conftest import Cluster


def controller(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("p")["spec"]}
    metadata = {"name": "web", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": metadata,
        "spec": {"template": template, **spec},
    }


def owned(cluster: Cluster) -> list[str]:
    pods = [each for each in cluster.view.list("Pod") if not is_terminating(each)]
    return [str((controller_of(each) or {}).get("kind")) for each in pods]


def test_what_is_left_out_comes_from_the_template(cluster: Cluster) -> None:
    made = cluster.admin.create(controller())
    assert (made["spec"]["selector"], made["spec"]["replicas"]) == ({"app": "web"}, 1)
    assert made["metadata"]["labels"] == {"app": "web"}
    given = controller(selector={"app": "web"}, replicas=2)
    given["metadata"] |= {"name": "other", "labels": {"own": "one"}}
    assert cluster.admin.create(given)["metadata"]["labels"] == {"own": "one"}


def test_its_pods_are_made_counted_and_deleted(cluster: Cluster) -> None:
    cluster.admin.create(controller(replicas=3))
    cluster.settle()
    assert owned(cluster) == ["ReplicationController"] * 3
    made = cluster.view.get("ReplicationController", "web", "default")
    assert made is not None
    counts = {"replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 0, "availableReplicas": 0}
    assert made["status"] == {"observedGeneration": 1, **counts}
    cluster.admin.scale("ReplicationController", "web", "default", 1)
    cluster.settle()
    assert owned(cluster) == ["ReplicationController"]
    cluster.admin.delete("ReplicationController", "web", namespace="default")
    cluster.settle()
    assert owned(cluster) == []


def test_a_pod_without_a_controller_is_adopted_and_one_with_other_labels_released(cluster: Cluster) -> None:
    alone = pod("alone")
    alone["metadata"] |= {"labels": {"app": "web"}, "namespace": "default"}
    cluster.admin.create(alone)
    cluster.admin.create(controller(replicas=2))
    cluster.settle()
    assert owned(cluster) == ["ReplicationController"] * 2
    cluster.admin.patch("Pod", "alone", {"metadata": {"labels": {"app": "other"}}}, namespace="default")
    cluster.settle()
    assert sorted(owned(cluster)) == ["None", "ReplicationController", "ReplicationController"]
