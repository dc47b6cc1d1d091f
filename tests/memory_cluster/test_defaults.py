"""What the API server fills in before anything reads an object, and that it does so once."""

from __future__ import annotations

from typing import Any

import pytest

from harness import testing
from harness.engine.ports import ADMIN
from harness.kube.api.objects import Frozen
from harness.kube.api.status import ApiError
from tests.memory_cluster.conftest import Cluster, memory_cluster


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "c", "image": "i", **fields}


def pod(**spec: Any) -> dict[str, Any]:
    return testing.pod(**{"containers": [container()], **spec})


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container(**spec.pop("container", {}))]}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
    else:
        spec = {"selector": {"matchLabels": labels}, **spec}
    metadata = {"name": "x", "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"template": template, **spec}}


def created(obj: dict[str, Any], cluster: Cluster | None = None) -> Any:
    return (cluster or memory_cluster()).admin.create(obj)


def test_a_port_is_tcp() -> None:
    stored = created(pod(containers=[container(ports=[{"containerPort": 80, "hostPort": 80}])]))
    assert stored["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_on_the_hosts_network_every_port_is_the_hosts() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81, "protocol": "UDP"}]
    stored = created(pod(hostNetwork=True, containers=[container(ports=ports)]))
    assert [each["hostPort"] for each in stored["spec"]["containers"][0]["ports"]] == [80, 81]


@pytest.mark.parametrize(
    ("kubernetes", "requests", "expected"),
    [
        ("1.35.0", {}, {"cpu": "2"}),  # nobody asks for less than the limit
        ("1.35.0", {"cpu": "500m"}, {"cpu": "500m"}),  # the containers do
        ("1.33.0", {}, None),
    ],
)
def test_limits_of_a_pod_as_a_whole_are_requests(
    kubernetes: str, requests: dict[str, str], expected: dict[str, str] | None
) -> None:
    given = pod(resources={"limits": {"cpu": "2"}}, containers=[container(resources={"requests": requests})])
    assert created(given, memory_cluster(kubernetes))["spec"]["resources"].get("requests") == expected


def test_quantities_are_canonical() -> None:
    given = container(resources={"requests": {"memory": "0.3Gi", "cpu": 0.5, "ephemeral-storage": None}})
    stored = created(pod(containers=[given]))
    assert stored["spec"]["containers"][0]["resources"]["requests"] == {
        "memory": "322122547200m",
        "cpu": "500m",
        "ephemeral-storage": "0",
    }
    cluster = memory_cluster()
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
    }
    cluster.admin.create({**runtime_class, "overhead": {"podFixed": {"cpu": "0.25"}}})
    stored = created(pod(runtimeClassName="kata", overhead={"cpu": "0.25"}), cluster)
    assert stored["spec"]["overhead"] == {"cpu": "250m"}


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job"])
def test_templates_get_protocols_but_no_requests(kind: str) -> None:
    given = {"ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"limits": {"cpu": 1}}}
    inner = created(workload(kind, container=given))["spec"]["template"]["spec"]["containers"][0]
    assert inner["ports"][0]["protocol"] == "TCP"
    assert inner["resources"] == {"limits": {"cpu": "1"}}


def test_a_job_with_workers_has_no_completions() -> None:
    spec = created(workload("Job", parallelism=3))["spec"]
    assert spec["parallelism"] == 3
    assert "completions" not in spec


@pytest.mark.parametrize(
    ("kind", "asked", "replicas"),
    [
        ("Deployment", {}, 1),
        ("ReplicaSet", {}, 1),
        ("StatefulSet", {}, 1),
        ("Deployment", {"replicas": 3}, 3),
        ("Deployment", {"replicas": 0}, 0),
        ("DaemonSet", {}, None),
        ("Job", {}, None),
    ],
)
def test_workloads_have_one_replica_unless_told_otherwise(
    kind: str, asked: dict[str, int], replicas: int | None
) -> None:
    assert created(workload(kind, **asked))["spec"].get("replicas") == replicas


@pytest.mark.parametrize(("asked", "completions"), [({}, 1), ({"completions": 5}, 5)])
def test_a_job_has_one_worker_and_as_many_completions_as_it_asks_for(asked: dict[str, int], completions: int) -> None:
    spec = created(workload("Job", **asked))["spec"]
    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (1, completions, 6)


def test_storage_says_when_it_binds() -> None:
    made = created(
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "p"}
    )
    assert (made["volumeBindingMode"], made["reclaimPolicy"]) == ("Immediate", "Delete")
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "c", "namespace": "default"}
    stored = created({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim})
    assert stored["spec"]["volumeMode"] == "Filesystem"


def test_a_second_write_changes_nothing() -> None:
    cluster = memory_cluster()
    stored = created(pod(hostNetwork=True, containers=[container(ports=[{"containerPort": 80}])]), cluster)
    again = cluster.writer(ADMIN).update({**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}})
    assert again["spec"] == stored["spec"]


@pytest.mark.parametrize(
    ("second", "quality"),
    [
        ({"limits": {"cpu": "2", "memory": "2Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "2"}}, "Burstable"),
        ({"limits": {"cpu": "2", "memory": "2Gi"}, "requests": {"cpu": "1"}}, "Burstable"),
        ({}, "Burstable"),
    ],
)
def test_a_pod_is_guaranteed_when_each_of_its_containers_is(second: dict[str, Any], quality: str) -> None:
    first = container(resources={"limits": {"cpu": "1", "memory": "1Gi"}})
    stored = created(pod(containers=[first, {**container(resources=second), "name": "second"}]))
    assert stored["status"]["qosClass"] == quality


@pytest.mark.parametrize("change", [{"priority": 5}, {"preemptionPolicy": "Never"}])
def test_a_pod_keeps_its_priority(change: dict[str, Any]) -> None:
    """plugin/pkg/admission/priority: what an update leaves out is what was stored; another value is for validation to refuse."""
    cluster = memory_cluster()
    stored = created(pod(), cluster)
    bare = {key: value for key, value in stored["spec"].items() if key not in change}
    assert cluster.admin.update({**stored, "spec": bare})["spec"] == stored["spec"]
    with pytest.raises(ApiError, match="pod updates may not change fields other than"):
        cluster.admin.update({**stored, "spec": {**stored["spec"], **change}})


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize("template", [{}, {"metadata": {"labels": {"app": "x"}}}])
def test_a_template_has_containers(kind: str, template: dict[str, Any]) -> None:
    """pkg/apis/core/validation ValidatePodTemplateSpec."""
    made = workload(kind)
    made["spec"]["template"] = template
    with pytest.raises(ApiError) as caught:
        created(made)
    assert caught.value.code == 422
    assert "spec.template.spec.containers: Required value" in caught.value.message


def default_class(value: int) -> dict[str, Any]:
    meta = {"name": "usual"}
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": meta,
        "value": value,
        "globalDefault": True,
    }


def test_pods_made_of_one_object_get_the_priority_of_their_moment() -> None:
    cluster = memory_cluster()
    sent = Frozen({**pod(), "metadata": {"generateName": "p-", "namespace": "default"}})

    def another() -> Any:
        return created(sent, cluster)

    first, second = another(), another()
    assert first["spec"] is second["spec"]
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["spec"]["priority"] == 0
    created(default_class(7), cluster)
    assert another()["spec"]["priority"] == 7
    cluster.admin.delete("PriorityClass", "usual")
    created(default_class(8), cluster)
    assert another()["spec"]["priority"] == 8
    cluster.admin.delete("PriorityClass", "usual")
    assert another()["spec"]["priority"] == 0
    assert first["spec"]["priority"] == 0


def test_a_spec_that_is_refused_is_refused_again() -> None:
    cluster = memory_cluster()
    sent = Frozen({**pod(nodeSelector={"a": "-b-"}), "metadata": {"generateName": "p-", "namespace": "default"}})
    for _ in range(2):
        with pytest.raises(ApiError, match=r"spec\.nodeSelector"):
            created(sent, cluster)
    assert cluster.view.list("Pod") == []


NOT_READY = "node.kubernetes.io/not-ready"


@pytest.mark.parametrize(
    ("taints", "added"),
    [
        ([], True),
        ([{"key": NOT_READY, "effect": "NoSchedule"}], False),
        ([{"key": NOT_READY, "value": "x", "effect": "NoSchedule"}], False),
        ([{"key": NOT_READY, "effect": "NoExecute"}], True),
        ([{"key": "team", "effect": "NoSchedule"}], True),
        ([{"key": "team", "effect": "NoExecute"}, {"key": NOT_READY, "effect": "NoSchedule"}], False),
    ],
)
def test_a_new_node_keeps_pods_away_until_it_is_ready(taints: list[dict[str, str]], added: bool) -> None:
    """plugin/pkg/admission/nodetaint: a taint is the same by key and effect."""
    made = testing.node("a", "4", "8Gi")
    stored = created({**made, "spec": {**made.get("spec", {}), "taints": taints}})
    wanted = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}] if added else taints
    assert stored["spec"]["taints"] == wanted
