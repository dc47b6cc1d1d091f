"""Pods of workloads that the API server refuses: what the controllers tell, and that they try again when it can help."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.pods.unused import refused_lines
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
