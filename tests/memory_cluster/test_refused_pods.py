"""Pods of workloads that the API server refuses: what the controllers tell, and that they try again when it can help."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.pods.unused import refused_lines
from harness.kube.admission.pod_validation import pod_annotation_errors
from harness.testing import pod
from harness.world import World

MISSING = "is forbidden: no PriorityClass with name high was found"
PRIORITY_CLASS = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"priorityClassName": "high", "containers": [{"name": "c", "image": "c"}]},
    }
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": "web"}}}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"  # type: ignore[index]
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {**selector, "template": template, **spec},
    }


@pytest.mark.parametrize(
    ("kind", "told", "source"),
    [
        ("ReplicaSet", f'Error creating: pods "web-" {MISSING}', "replicaset-controller"),
        ("Job", f'Error creating: pods "web-" {MISSING}', "job-controller"),
        (
            "StatefulSet",
            f'create Pod web-0 in StatefulSet web failed error: pods "web-0" {MISSING}',
            "statefulset-controller",
        ),
    ],
)
def test_what_is_told_of_a_refused_pod(kind: str, told: str, source: str) -> None:
    world = World()
    world.apply(workload(kind))
    world.settle()
    events = [each for each in world.events if each.reason == "FailedCreate"]
    assert {(each.type, each.message, each.source) for each in events} == {("Warning", told, source)}
    assert world.list("Pod") == []


def test_pods_come_once_the_class_is_there() -> None:
    world = World()
    world.apply(workload("Deployment", replicas=3))
    assert world.settle().runaway is None
    assert world.list("Pod") == []
    world.apply(PRIORITY_CLASS)
    world.settle()
    assert [pod["spec"]["priority"] for pod in world.list("Pod")] == [1000, 1000, 1000]


@pytest.mark.parametrize(("known", "hint"), [("hihg", "; did you mean 'hihg'?"), ("batch", "")])
def test_a_class_with_nearly_that_name_is_told(known: str, hint: str) -> None:
    world = World()
    world.apply({**PRIORITY_CLASS, "metadata": {"name": known}}, workload("Deployment", replicas=1))
    world.settle()
    (line,) = refused_lines(world)
    assert line.startswith("Deployment/web gets no pods: ")
    assert line.endswith(f"{MISSING}{hint}")


COST = "controller.kubernetes.io/pod-deletion-cost"


@pytest.mark.parametrize("cost", ["abc", "1_000", "+10", "008", "2147483648", "1.5", ""])
def test_a_deletion_cost_that_is_no_int32_is_refused(cost: str) -> None:
    """Kubernetes pkg/apis/core/validation/validation.go (ValidatePodSpecificAnnotations), of pods and of templates."""
    world = World()
    wrong = f'[{COST}]: Invalid value: "{cost}": must be a 32bit integer'
    made = pod("a")
    made["metadata"]["annotations"] = {COST: cost}
    deployment = workload("Deployment")
    deployment["spec"]["template"]["metadata"]["annotations"] = {COST: cost}
    texts = [rejection.text for rejection in world.apply(made, deployment)]
    assert texts == [f"metadata.annotations{wrong}", f"spec.template.annotations{wrong}"]


@pytest.mark.parametrize("cost", ["0", "-1", "2147483647", "-2147483648"])
def test_a_deletion_cost_is_an_int32(cost: str) -> None:
    made = pod("a")
    made["metadata"]["annotations"] = {COST: cost}
    assert not World().apply(made)


def test_what_was_wrong_before_may_stay_wrong() -> None:
    """Kubernetes pkg/api/pod/util.go (AllowInvalidPodDeletionCost)."""
    place, text = ("metadata", "annotations"), "metadata.annotations"
    assert pod_annotation_errors({COST: "x"}, {}, place, text)
    assert not pod_annotation_errors({COST: "x"}, {COST: "y"}, place, text)
    assert pod_annotation_errors({COST: "x"}, {COST: "1"}, place, text)
