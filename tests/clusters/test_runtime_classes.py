"""RuntimeClass: what it adds to pods and which pods it keeps out, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal

FIXED = {"cpu": "0.25", "memory": "120Mi"}
CANONICAL = {"cpu": "250m", "memory": "120Mi"}


def runtime_class(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": "kata",
        **fields,
    }


def create(cluster: Subject, **fields: Any) -> str:
    """The name of a new class."""
    return str(cluster.create(runtime_class(cluster.named("kata"), **fields))["metadata"]["name"])


def test_overhead_selector_and_tolerations_are_written_into_a_new_pod(cluster: Subject) -> None:
    wanted = {"key": "kata", "operator": "Exists"}
    scheduling = {"nodeSelector": {"runtime": "kata"}, "tolerations": [wanted]}
    stored = cluster.create(runtime_class(cluster.named("kata"), overhead={"podFixed": FIXED}, scheduling=scheduling))
    assert stored["overhead"] == {"podFixed": CANONICAL}
    narrow = {"key": "kata", "operator": "Equal", "value": "a", "effect": "NoSchedule"}
    own = {"key": "mine", "operator": "Exists", "effect": "NoSchedule"}
    made = cluster.admin.create(
        cluster.pod(
            "p", runtimeClassName=cluster.named("kata"), nodeSelector={"disk": "fast"}, tolerations=[narrow, own]
        )
    )
    spec = made["spec"]
    assert spec["overhead"] == CANONICAL
    assert spec["nodeSelector"] == {"disk": "fast", "runtime": "kata"}
    assert [each["key"] for each in spec["tolerations"]] == [
        "mine",  # the class tolerates all that the narrow one does
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "kata",
    ]


def test_a_class_without_overhead_adds_none(cluster: Subject) -> None:
    create(cluster)
    spec = cluster.admin.create(cluster.pod("p", runtimeClassName=cluster.named("kata")))["spec"]
    assert ("overhead" in spec, spec.get("nodeSelector"), len(spec["tolerations"])) == (False, None, 2)


def test_the_same_overhead_may_be_said(cluster: Subject) -> None:
    create(cluster, overhead={"podFixed": FIXED})
    made = cluster.admin.create(
        cluster.pod("p", runtimeClassName=cluster.named("kata"), overhead={"cpu": "250m", "memory": "120Mi"})
    )
    assert made["spec"]["overhead"] == CANONICAL


OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
NO_OVERHEAD = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no such class", {"runtimeClassName": "gvisor"}, 'pod rejected: RuntimeClass "gvisor" not found'),
    ("other overhead", {"runtimeClassName": "kata", "overhead": {"cpu": "1"}}, OTHER_OVERHEAD),
    ("overhead without a class", {"overhead": {"cpu": "1"}}, NO_OVERHEAD),
    ("overhead that the class lacks", {"runtimeClassName": "plain", "overhead": {"cpu": "1"}}, NO_OVERHEAD),
    (
        "another value in its selector",
        {"runtimeClassName": "kata", "nodeSelector": {"runtime": "runc"}},
        "conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc",
    ),
]


@pytest.mark.parametrize(("spec", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_pods(cluster: Subject, spec: dict[str, Any], why: str) -> None:
    create(cluster, overhead={"podFixed": FIXED}, scheduling={"nodeSelector": {"runtime": "kata"}})
    cluster.create(runtime_class(cluster.named("plain")))
    if "runtimeClassName" in spec:
        spec = {**spec, "runtimeClassName": cluster.named(spec["runtimeClassName"])}
        why = why.replace('"gvisor"', f'"{cluster.named("gvisor")}"')
    error = refusal(cluster.admin.create, cluster.pod("p", **spec))
    assert (error.code, error.reason, error.message) == (403, "Forbidden", f'pods "p" is forbidden: {why}')


def test_what_is_wrong_otherwise_comes_before_an_overhead_without_a_class(cluster: Subject) -> None:
    error = refusal(cluster.admin.create, cluster.pod("p", overhead={"cpu": "1"}, nodeSelector={"a b": "c"}))
    assert (error.code, error.reason) == (422, "Invalid")


def test_a_pod_that_is_there_keeps_what_it_got(cluster: Subject) -> None:
    create(cluster, overhead={"podFixed": FIXED})
    cluster.admin.create(cluster.pod("p", runtimeClassName=cluster.named("kata")))
    cluster.admin.delete("RuntimeClass", cluster.named("kata"))
    changed = cluster.admin.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}}, namespace=cluster.namespace)
    assert changed["spec"]["overhead"] == CANONICAL


TWICE = {"key": "a", "operator": "Exists", "effect": "NoSchedule"}
WRONG: list[tuple[str, dict[str, Any], list[tuple[str, str, str]]]] = [
    ("no handler", {"handler": ""}, [("FieldValueRequired", "handler", "Required value")]),
    (
        "toleration twice",
        {"scheduling": {"tolerations": [TWICE, {**TWICE, "tolerationSeconds": None}]}},
        [
            (
                "FieldValueDuplicate",
                "scheduling.tolerations[1]",
                'Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"NoSchedule","TolerationSeconds":null}',
            )
        ],
    ),
    (
        "negative overhead",
        {"overhead": {"podFixed": {"cpu": "-1"}}},
        [("FieldValueInvalid", "overhead.limits[cpu]", 'Invalid value: "-1": must be greater than or equal to 0')],
    ),
    (
        "selector",
        {"scheduling": {"nodeSelector": {"a": "not a value"}}},
        [
            (
                "FieldValueInvalid",
                "scheduling.nodeSelector",
                'Invalid value: "not a value": a valid label must be an empty string or consist of alphanumeric characters, '
                "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
                "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            )
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_classes(cluster: Subject, fields: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    error = refusal(cluster.admin.create, runtime_class(cluster.named("kata"), **fields))
    assert (error.code, causes(error)) == (422, expected)


def test_a_handler_stays(cluster: Subject) -> None:
    error = refusal(cluster.admin.patch, "RuntimeClass", create(cluster), {"handler": "other"})
    assert causes(error) == [("FieldValueInvalid", "handler", 'Invalid value: "other": field is immutable')]
