"""What the API server asks of Deployments and their like beside the pods' template, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal

NEGATIVE = "Invalid value: -1: must be greater than or equal to 0"
OTHER_LABELS = 'Invalid value: {"app":"b"}: `selector` does not match template `labels`'
POLICIES = 'valid values: "OnFailure", "Never"'


def workload(cluster: Subject, kind: str, label: str = "a", policy: str | None = None, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": label}}, "spec": cluster.pod("p")["spec"]}
    if policy is not None:
        template["spec"]["restartPolicy"] = policy
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": "a"}}}
    if kind == "StatefulSet":
        selector["serviceName"] = "a"  # type: ignore[assignment]
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": cluster.namespace},
        "spec": {**selector, "template": template, **spec},
    }


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_replicas_are_not_negative(cluster: Subject, kind: str) -> None:
    error = refusal(cluster.admin.create, workload(cluster, kind, replicas=-1))
    assert (error.code, causes(error)) == (422, [("FieldValueInvalid", "spec.replicas", NEGATIVE)])


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_the_selector_matches_the_template(cluster: Subject, kind: str) -> None:
    error = refusal(cluster.admin.create, workload(cluster, kind, "b"))
    assert (error.code, causes(error)) == (422, [("FieldValueInvalid", "spec.template.metadata.labels", OTHER_LABELS)])


@pytest.mark.parametrize(
    ("policy", "cause"),
    [
        (None, ("FieldValueRequired", f"Required value: {POLICIES}")),
        ("Always", ("FieldValueRequired", f"Required value: {POLICIES}")),
    ],
)
def test_a_job_says_when_its_pods_start_again(cluster: Subject, policy: str | None, cause: tuple[str, str]) -> None:
    error = refusal(cluster.admin.create, workload(cluster, "Job", policy=policy))
    reason, message = cause
    assert (error.code, causes(error)) == (422, [(reason, "spec.template.spec.restartPolicy", message)])
    assert (
        cluster.admin.create(workload(cluster, "Job", policy="Never"))["spec"]["template"]["spec"]["restartPolicy"]
        == "Never"
    )


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Deployment", "deployment"),
        ("ReplicaSet", "deployment"),
        ("StatefulSet", "statefulset"),
        ("DaemonSet", "daemonset"),
    ],
)
def test_a_selector_has_a_condition(cluster: Subject, kind: str, said: str) -> None:
    error = refusal(cluster.admin.create, workload(cluster, kind, selector={}))
    assert (error.code, causes(error)) == (
        422,
        [("FieldValueInvalid", "spec.selector", f"Invalid value: {{}}: empty selector is invalid for {said}")],
    )
