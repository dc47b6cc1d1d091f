"""The API server's rules for HorizontalPodAutoscalers, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal

Cause = tuple[str, str, str]
REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
METRIC = {"name": "queue"}
SHARE = {"type": "Utilization", "averageUtilization": 50}
RAW_OR_SHARE = "must set either a target raw value or a target utilization"
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def autoscaler(cluster: Subject, version: str = "v2", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": cluster.namespace},
        "spec": {"maxReplicas": 2, "scaleTargetRef": REFERENCE, **spec},
    }


def refused(cluster: Subject, source: dict[str, Any]) -> list[Cause]:
    """The causes about the only metric, their places from it on."""
    field = next(iter(source))
    metric = {"type": field[0].upper() + field[1:], **source}
    error = refusal(cluster.admin.create, autoscaler(cluster, metrics=[metric]))
    assert error.code == 422
    return [(why, place.removeprefix("spec.metrics[0]."), text) for why, place, text in causes(error)]


def required(place: str, text: str = "") -> Cause:
    return ("FieldValueRequired", place, f"Required value{f': {text}' if text else ''}")


def invalid(place: str, text: str) -> Cause:
    return ("FieldValueInvalid", place, f"Invalid value: {text}")


def forbidden(place: str, text: str) -> Cause:
    return ("FieldValueForbidden", place, f"Forbidden: {text}")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            {"pods": {"metric": METRIC, "target": {"type": "Value", "value": "3"}}},
            [required("pods.target.averageValue", "must specify a positive target averageValue")],
        ),
        (
            {"object": {"metric": METRIC, "describedObject": {"kind": "", "name": ""}, "target": {"type": "Value"}}},
            [
                required("object.describedObject.kind"),
                required("object.describedObject.name"),
                required("object.target.averageValue", "must set either a target value or averageValue"),
            ],
        ),
        (
            {"external": {"metric": {"name": "a/b"}, "target": {"type": "Value", "value": "3", "averageValue": "4"}}},
            [
                invalid("external.metric.name", "\"a/b\": may not contain '/'"),
                forbidden("external.target.value", "may not set both a target value for metric and a per-pod target"),
            ],
        ),
        (
            {"external": {"metric": {"name": ".."}, "target": {"type": "Value"}}},
            [
                invalid("external.metric.name", "\"..\": may not be '..'"),
                required(
                    "external.target.averageValue", "must set either a target value for metric or a per-pod target"
                ),
            ],
        ),
        (
            {"containerResource": {"name": "gpu", "container": "C_!", "target": SHARE}},
            [
                invalid("containerResource.name", '"gpu": must be a standard resource type or fully qualified'),
                invalid("containerResource.name", '"gpu": must be a standard resource for containers'),
                invalid("containerResource.container", f'"C_!": {LABEL}'),
            ],
        ),
        (
            {"containerResource": {"name": "requests.a/b", "container": "c", "target": SHARE}},
            [
                invalid("containerResource.name", '"requests.a/b": doesn\'t follow extended resource name standard'),
            ],
        ),
        (
            {"resource": {"name": "", "target": {"type": ""}}},
            [
                required("resource.name", "must specify a resource name"),
                required("resource.target.type", "must specify a metric target type"),
                invalid("resource.target.type", '"": must be either Utilization, Value, or AverageValue'),
                required("resource.target.averageUtilization", RAW_OR_SHARE),
            ],
        ),
        (
            {"resource": {"name": "cpu", "target": {**SHARE, "averageValue": "1"}}},
            [forbidden("resource.target.averageValue", "may not set both a target raw value and a target utilization")],
        ),
    ],
)
def test_a_source_of_metrics_has_what_it_needs(cluster: Subject, source: dict[str, Any], expected: list[Cause]) -> None:
    assert refused(cluster, source) == expected


@pytest.mark.parametrize("field", ["resource", "containerResource", "pods", "object", "external"])
def test_a_source_that_is_empty_is_there(cluster: Subject, field: str) -> None:
    places = [place for _, place, _ in refused(cluster, {field: {}})]
    assert places, places
    assert all(place.startswith(f"{field}.") for place in places)


@pytest.mark.parametrize("share", [0, -5])
def test_a_share_of_an_earlier_version_is_judged_as_a_metric(cluster: Subject, share: int) -> None:
    if cluster.name == "http":
        pytest.skip("the harness's own API server serves autoscaling/v2 alone over HTTP")
    made = autoscaler(cluster, "v1", targetCPUUtilizationPercentage=share)
    error = refusal(cluster.admin.create, made)
    place = "spec.metrics[0].resource.target.averageUtilization"
    assert causes(error) == [invalid(place, f"{share}: must be greater than 0")]


def test_a_reference_has_names_that_a_path_can_have(cluster: Subject) -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deploy/ment", "name": "a%b"}
    error = refusal(cluster.admin.create, autoscaler(cluster, scaleTargetRef=reference))
    assert causes(error) == [
        invalid("spec.scaleTargetRef.kind", "\"Deploy/ment\": may not contain '/'"),
        invalid("spec.scaleTargetRef.name", "\"a%b\": may not contain '%'"),
    ]
