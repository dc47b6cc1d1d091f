"""ReplicationControllers: defaults, what is asked of them, and their pods, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import controller_of, status_of
from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal

AT = "spec.template"
OTHER_LABELS = 'Invalid value: {"app":"a"}: `selector` does not match template `labels`'
NEGATIVE = "Invalid value: -1: must be greater than or equal to 0"
UNTIMED = "Forbidden: activeDeadlineSeconds in ReplicationController is not Supported"


def controller(cluster: Subject, pods: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {**cluster.pod("p")["spec"], **(pods or {})}}
    metadata = {"name": "w", "namespace": cluster.namespace}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": metadata,
        "spec": {"template": template, **spec},
    }


@pytest.mark.parametrize(
    ("pods", "spec", "found"),
    [
        ({}, {"selector": {"app": "b"}}, [("FieldValueInvalid", f"{AT}.metadata.labels", OTHER_LABELS)]),
        ({}, {"replicas": -1}, [("FieldValueInvalid", "spec.replicas", NEGATIVE)]),
        ({}, {"minReadySeconds": -1}, [("FieldValueInvalid", "spec.minReadySeconds", NEGATIVE)]),
        (
            {},
            {"template": None},
            [
                ("FieldValueRequired", "spec.selector", "Required value"),
                ("FieldValueRequired", AT, "Required value"),
            ],
        ),
        ({}, {"template": None, "selector": {"app": "a"}}, [("FieldValueRequired", AT, "Required value")]),
        (
            {"activeDeadlineSeconds": 5},
            {},
            [("FieldValueForbidden", f"{AT}.spec.activeDeadlineSeconds", UNTIMED)],
        ),
    ],
)
def test_what_is_asked_of_one(
    cluster: Subject, pods: dict[str, Any], spec: dict[str, Any], found: list[tuple[str, str, str]]
) -> None:
    error = refusal(cluster.admin.create, controller(cluster, pods, **spec))
    assert (error.code, causes(error)) == (422, found)


def test_its_pods_are_made_scaled_and_go_with_it(cluster: Subject) -> None:
    made = cluster.admin.create(controller(cluster, replicas=2))
    assert (made["spec"]["selector"], made["metadata"]["labels"]) == ({"app": "a"}, {"app": "a"})

    def counted(number: int) -> bool:
        present = cluster.view.get("ReplicationController", "w", cluster.namespace) or {}
        pods = [
            pod
            for pod in cluster.view.list("Pod", namespace=cluster.namespace)
            if (controller_of(pod) or {}).get("uid") == made["metadata"]["uid"]
        ]
        return status_of(present).get("replicas") == number == len(pods)

    cluster.eventually(lambda: counted(2), "its two pods")
    present = cluster.view.get("ReplicationController", "w", cluster.namespace) or {}
    counts = {"replicas": 2, "fullyLabeledReplicas": 2}
    assert {key: value for key, value in status_of(present).items() if value and key != "observedGeneration"} == counts
    cluster.admin.scale("ReplicationController", "w", cluster.namespace, 1)
    cluster.eventually(lambda: counted(1), "one of them to go")
