"""Jobs on the memory cluster: their pods, the finalizer that counts them, and what goes with them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import condition_is, finalizers_of, labels_of, name_of, status_of, uid_of
from harness.testing import node
from tests.memory_cluster.conftest import Cluster, memory_cluster

Object = dict[str, Any]


def job(name: str = "j", **spec: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": "j"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]},
    }
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template, **spec}}


def end(cluster: Cluster, phase: str, count: int = 100) -> None:
    """Ends so many pods that have not ended."""
    waiting = [pod for pod in cluster.view.list("Pod") if status_of(pod)["phase"] == "Pending"]
    for pod in waiting[:count]:
        patch = {"status": {"phase": phase}}
        cluster.admin.patch("Pod", name_of(pod), patch, namespace="default", subresource="status")
    cluster.settle()


def status(cluster: Cluster) -> Object:
    found = cluster.view.get("Job", "j", "default")
    assert found is not None
    return dict(status_of(found))


def test_a_job_selects_its_own_pods(cluster: Cluster) -> None:
    made = cluster.admin.create(job())
    cluster.settle()
    uid = uid_of(made)
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    (pod,) = cluster.view.list("Pod")
    assert labels_of(pod) == {
        "app": "j",
        "job-name": "j",
        "controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "batch.kubernetes.io/controller-uid": uid,
    }
    assert labels_of(made) == {"app": "j"}  # those that the template had


def test_a_job_runs_to_its_end(cluster: Cluster) -> None:
    cluster.admin.create(job(completions=3, parallelism=2))
    cluster.settle()
    assert (status(cluster)["active"], status(cluster)["ready"]) == (2, 0)
    end(cluster, "Succeeded")
    assert (status(cluster)["active"], status(cluster)["succeeded"]) == (1, 2)
    end(cluster, "Succeeded")
    assert status(cluster)["succeeded"] == 3
    assert "active" not in status(cluster)
    found = cluster.view.get("Job", "j", "default")
    assert found is not None
    assert condition_is(found, "Complete")
    assert [list(finalizers_of(pod)) for pod in cluster.view.list("Pod")] == [[], [], []]
    assert [event.reason for event in cluster.recorder.events if event.object.kind == "Job"][-1] == "Completed"


def test_a_job_fails_after_its_backoff(cluster: Cluster) -> None:
    cluster.admin.create(job(backoffLimit=2))
    began = cluster.engine.clock.seconds
    for _ in range(3):
        cluster.settle()
        end(cluster, "Failed")
    assert cluster.engine.clock.seconds - began > 10 + 20
    found = cluster.view.get("Job", "j", "default")
    assert found is not None
    assert condition_is(found, "Failed")
    assert (status(cluster)["failed"], len(cluster.view.list("Pod"))) == (3, 3)


def test_a_deleted_pod_stays_until_it_is_counted(cluster: Cluster) -> None:
    cluster.admin.create(job())
    cluster.settle()
    (pod,) = cluster.view.list("Pod")
    cluster.admin.delete("Pod", name_of(pod), namespace="default")
    assert [name_of(left) for left in cluster.view.list("Pod")] == [name_of(pod)]
    cluster.settle()
    (other,) = cluster.view.list("Pod")
    assert uid_of(other) != uid_of(pod)
    assert status(cluster)["failed"] == 1


def test_a_suspended_job_gives_up_its_pods_and_starts_again(cluster: Cluster) -> None:
    cluster.admin.create(job(parallelism=2))
    cluster.settle()
    cluster.admin.patch("Job", "j", {"spec": {"suspend": True}}, namespace="default")
    cluster.settle()
    assert (cluster.view.list("Pod"), "failed" in status(cluster)) == ([], False)
    cluster.admin.patch("Job", "j", {"spec": {"suspend": False}}, namespace="default")
    cluster.settle()
    assert (len(cluster.view.list("Pod")), status(cluster)["active"]) == (2, 2)


def test_the_pods_of_a_deleted_job_go(cluster: Cluster) -> None:
    cluster.admin.create(job(parallelism=2))
    cluster.settle()
    cluster.admin.delete("Job", "j", namespace="default")
    cluster.settle()
    assert cluster.view.list("Pod") == []


def test_a_deadline_passes(cluster: Cluster) -> None:
    cluster.admin.create(job(activeDeadlineSeconds=100))
    cluster.advance(99)
    assert status(cluster)["active"] == 1
    cluster.advance(5)
    found = cluster.view.get("Job", "j", "default")
    assert found is not None
    assert condition_is(found, "Failed")
    assert cluster.view.list("Pod") == []


def test_a_job_that_somebody_else_manages_is_left_alone(cluster: Cluster) -> None:
    cluster.admin.create(job(managedBy="example.com/other"))
    cluster.settle()
    assert (cluster.view.list("Pod"), status(cluster)) == ([], {})


def test_a_pod_whose_node_is_gone_has_failed(cluster: Cluster) -> None:
    """pkg/controller/podgc: the pod failure policy can read why."""
    cluster.admin.create(node("n"))
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    cluster.admin.create(job(backoffLimit=0, podFailurePolicy={"rules": rules}))
    cluster.settle()
    (pod,) = cluster.view.list("Pod")
    assert pod["spec"]["nodeName"] == "n"
    cluster.admin.delete("Node", "n")
    cluster.settle()
    (other,) = cluster.view.list("Pod")
    assert uid_of(other) != uid_of(pod)
    assert "failed" not in status(cluster)


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        (
            {"completionMode": "Indexed", "parallelism": 1},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        ({"backoffLimitPerIndex": 1}, "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"),
        (
            {
                "podFailurePolicy": {
                    "rules": [{"action": "FailIndex", "onPodConditions": [{"type": "a", "status": "True"}]}]
                }
            },
            'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
        ),
        (
            {"podReplacementPolicy": "Never"},
            'spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"',
        ),
    ],
)
def test_what_a_job_may_not_say(cluster: Cluster, spec: Object, cause: str) -> None:
    with pytest.raises(Exception, match="is invalid") as refused:
        cluster.admin.create(job(**spec))
    assert str(refused.value) == f'Job.batch "j" is invalid: {cause}'


@pytest.mark.parametrize(
    ("kubernetes", "active"),
    [
        ("1.31.5", None),
        ("1.33.9", None),
        ("1.34.9", None),
        ("1.34.10", 1),
        ("1.35.6", None),
        ("1.35.7", 1),
        ("1.36.2", None),
        ("1.36.3", 1),
        ("1.37.0", 1),
    ],
)
def test_pods_that_are_active_while_the_next_has_to_wait(kubernetes: str, active: int | None) -> None:
    """Older ones return 0 for them (pkg/controller/job/job_controller.go, manageJob)."""
    cluster = memory_cluster(kubernetes)
    cluster.admin.create(job(completions=2, parallelism=2, backoffLimit=6))
    cluster.settle()
    fail_one(cluster)
    assert (status(cluster).get("active"), status(cluster)["failed"]) == (active, 1)
    cluster.settle()
    assert status(cluster)["active"] == 2


def fail_one(cluster: Cluster) -> None:
    """Let a pod fail, and a little time pass, less than until the next one."""
    pod = cluster.view.list("Pod")[0]
    patch = {"status": {"phase": "Failed"}}
    cluster.admin.patch("Pod", name_of(pod), patch, namespace="default", subresource="status")
    cluster.advance(5)


@pytest.mark.parametrize(
    ("kubernetes", "active", "failed"),
    [("1.31.5", None, 1), ("1.32.0", 2, None), ("1.36.2", 2, None), ("1.36.3", 1, 1)],
)
def test_a_failure_beside_a_ready_pod_is_counted_late(kubernetes: str, active: int | None, failed: int | None) -> None:
    """From 1.32 to 1.36.2 the API server refuses the status: it cannot set more ready pods than active."""
    cluster = memory_cluster(kubernetes)
    cluster.admin.create(job(completions=2, parallelism=2, backoffLimit=6))
    cluster.settle()
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    other = name_of(cluster.view.list("Pod")[1])
    cluster.admin.patch("Pod", other, ready, namespace="default", subresource="status")
    cluster.settle()
    fail_one(cluster)
    assert (status(cluster).get("active"), status(cluster).get("failed")) == (active, failed)
    cluster.settle()
    assert (status(cluster)["active"], status(cluster)["failed"]) == (2, 1)
