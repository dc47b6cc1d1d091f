"""How a Deployment replaces its pods: strategies, bounds, pauses, sizes, deadlines, history, adoption.

Sources: kubernetes pkg/controller/deployment/{rolling,recreate,sync,progress}.go, controller_ref_manager.go.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from harness.kube.api.objects import annotations_of, condition, controller_of, labels_of, name_of, spec_of, status_of
from tests.memory_cluster.conftest import Cluster
from tests.memory_cluster.running import BROKEN, run_pods


def rolled(replicas: int = 4, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "one"}]}}
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": selector, "template": template, **spec},
    }


def begin(cluster: Cluster, made: dict[str, Any]) -> None:
    cluster.admin.create(made)
    cluster.settle()


def change(cluster: Cluster, **spec: Any) -> None:
    cluster.admin.patch("Deployment", "web", {"spec": spec}, namespace="default")


def image(name: str, **labels: str) -> dict[str, Any]:
    template: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": name}]}}
    return {**template, "metadata": {"labels": labels}} if labels else template


def images(cluster: Cluster) -> Counter[str]:
    return Counter(pod["spec"]["containers"][0]["image"] for pod in cluster.view.list("Pod"))


def sets(cluster: Cluster) -> dict[str, int]:
    """The replicas of the ReplicaSets by the image of their template."""
    found = cluster.view.list("ReplicaSet")
    return {each["spec"]["template"]["spec"]["containers"][0]["image"]: each["spec"]["replicas"] for each in found}


def stored(cluster: Cluster) -> Any:
    found = cluster.view.get("Deployment", "web", "default")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "most", "least"),
    [
        (4, "25%", "25%", 5, 3),
        (4, 0, 1, 4, 3),
        (4, 2, 0, 6, 4),
        (1, "25%", "25%", 2, 1),  # a part of a pod is one too many, and none too few
        (3, "100%", "100%", 6, 0),
        (10, "30%", "30%", 13, 7),
        (2, "0%", "10%", 2, 1),  # neither: then one may be missing
    ],
)
def test_a_rolling_update_stays_within_its_bounds(
    cluster: Cluster, replicas: int, surge: Any, unavailable: Any, most: int, least: int
) -> None:
    kubelet = run_pods(cluster)
    update = {"maxSurge": surge, "maxUnavailable": unavailable}
    begin(cluster, rolled(replicas, strategy={"type": "RollingUpdate", "rollingUpdate": update}))
    del kubelet.counts[:]
    change(cluster, template=image("two"))
    cluster.settle()
    assert images(cluster) == {"two": replicas}
    assert max(living for living, _ in kubelet.counts) == most
    assert min(ready for _, ready in kubelet.counts) == least
    assert sets(cluster) == {"one": 0, "two": replicas}


def test_a_recreated_deployment_has_no_pods_of_two_templates(cluster: Cluster) -> None:
    run_pods(cluster)
    begin(cluster, rolled(3, strategy={"type": "Recreate"}))
    change(cluster, template=image("two"))
    seen: set[frozenset[str]] = set()
    for _ in range(100):
        cluster.advance(0.1)
        seen.add(frozenset(images(cluster)))
    assert seen == {frozenset({"one"}), frozenset({"two"})} or seen == {
        frozenset({"one"}),
        frozenset(),
        frozenset({"two"}),
    }
    assert images(cluster) == {"two": 3}


def test_a_paused_deployment_is_scaled_and_not_rolled_out(cluster: Cluster) -> None:
    run_pods(cluster)
    begin(cluster, rolled(2))
    change(cluster, paused=True)
    cluster.settle()
    change(cluster, template=image("two"), replicas=3)
    cluster.settle()
    assert images(cluster) == {"one": 3}
    progressing = condition(stored(cluster), "Progressing")
    assert progressing is not None
    assert (progressing["status"], progressing["reason"]) == ("Unknown", "DeploymentPaused")
    change(cluster, paused=None)
    cluster.settle()
    assert images(cluster) == {"two": 3}


def test_a_rollout_that_hangs_is_late_and_shares_a_change_of_size(cluster: Cluster) -> None:
    """sync.go (scale): what is added during a rollout is shared in proportion."""
    run_pods(cluster)
    begin(cluster, rolled(8, progressDeadlineSeconds=60))
    change(cluster, template=image("two", **{BROKEN: ""}))
    cluster.settle()
    assert sets(cluster) == {"one": 6, "two": 4}
    cluster.advance(90)
    progressing = condition(stored(cluster), "Progressing")
    assert progressing is not None
    assert (progressing["status"], progressing["reason"]) == ("False", "ProgressDeadlineExceeded")
    assert progressing["message"].endswith("has timed out progressing.")
    change(cluster, replicas=16)
    cluster.settle()
    assert sets(cluster) == {"one": 12, "two": 8}
    change(cluster, replicas=4)
    cluster.settle()
    assert sum(sets(cluster).values()) == 5


def test_revisions_count_up_and_the_history_is_short(cluster: Cluster) -> None:
    run_pods(cluster)
    begin(cluster, rolled(1, revisionHistoryLimit=1))
    for name in ("two", "three"):
        change(cluster, template=image(name))
        cluster.settle()
    assert sets(cluster) == {"two": 0, "three": 1}
    assert annotations_of(stored(cluster))["deployment.kubernetes.io/revision"] == "3"
    change(cluster, template=image("two"))
    cluster.settle()
    (back,) = [each for each in cluster.view.list("ReplicaSet") if spec_of(each)["replicas"]]
    notes = annotations_of(back)
    assert notes["deployment.kubernetes.io/revision"] == "4"
    assert notes["deployment.kubernetes.io/revision-history"] == "2"


def test_the_status_of_a_rollout_that_is_over(cluster: Cluster) -> None:
    run_pods(cluster)
    begin(cluster, rolled(2, minReadySeconds=10))
    cluster.settle()
    status = status_of(stored(cluster))
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
    assert [status[field] for field in counts] == [2, 2, 2, 2, 0]
    assert {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]} == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    assert cluster.engine.clock.seconds >= 10


def test_every_change_of_size_is_told(cluster: Cluster) -> None:
    run_pods(cluster)
    begin(cluster, rolled(1))
    change(cluster, template=image("two"))
    cluster.settle()
    told = [event.message for event in cluster.recorder.events if event.reason == "ScalingReplicaSet"]
    assert [text.partition(" web-")[0] + text[text.index(" from") :] for text in told] == [
        "Scaled up replica set from 0 to 1",
        "Scaled up replica set from 0 to 1",
        "Scaled down replica set from 1 to 0",
    ]


def orphan(name: str, app: str = "web") -> dict[str, Any]:
    meta = {"name": name, "namespace": "default", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def replica_set(replicas: int) -> dict[str, Any]:
    made = rolled(replicas)
    return {**made, "kind": "ReplicaSet", "metadata": {**made["metadata"], "labels": {"app": "web"}}}


@pytest.mark.parametrize("first", ["pods", "set"])
def test_a_replica_set_adopts_what_it_selects_and_nobody_controls(cluster: Cluster, first: str) -> None:
    run_pods(cluster)
    made = [orphan("a"), orphan("b"), orphan("other", "shop")]
    for obj in [*made, replica_set(3)] if first == "pods" else [replica_set(3), *made]:
        cluster.admin.create(obj)
    cluster.settle()
    pods = cluster.view.list("Pod")
    owned = [name_of(pod) for pod in pods if controller_of(pod) is not None]
    assert len(owned) == 3
    assert {"a", "b"} <= set(owned) or first == "set"
    assert "other" not in owned


def test_a_pod_with_other_labels_is_let_go_and_replaced(cluster: Cluster) -> None:
    run_pods(cluster)
    cluster.admin.create(replica_set(2))
    cluster.settle()
    name = name_of(cluster.view.list("Pod")[0])
    cluster.admin.patch("Pod", name, {"metadata": {"labels": {"app": "debug"}}}, namespace="default")
    cluster.settle()
    pods = {name_of(pod): pod for pod in cluster.view.list("Pod")}
    assert len(pods) == 3
    assert controller_of(pods[name]) is None
    assert sum(labels_of(pod)["app"] == "web" for pod in pods.values()) == 2


def test_a_deployment_adopts_the_replica_set_of_its_template(cluster: Cluster) -> None:
    run_pods(cluster)
    cluster.admin.create(replica_set(2))
    cluster.settle()
    begin(cluster, rolled(2))
    (only,) = cluster.view.list("ReplicaSet")
    assert (controller_of(only) or {})["kind"] == "Deployment"
    assert len(cluster.view.list("Pod")) == 2


def test_a_rollout_waits_until_a_change_of_size_is_counted(cluster: Cluster) -> None:
    """The ReplicaSet controller is quicker than the next look at the Deployment: recorded with Kubernetes 1.36.3."""
    kubelet = run_pods(cluster)
    update = {"maxSurge": 2, "maxUnavailable": "30%"}
    begin(cluster, rolled(9, strategy={"type": "RollingUpdate", "rollingUpdate": update}))
    del kubelet.counts[:]
    change(cluster, template=image("two"), replicas=6)
    cluster.advance(0.5)  # before a new pod is ready
    assert min(living for living, _ in kubelet.counts) == 6
