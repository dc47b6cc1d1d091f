"""Defaults and validation of HorizontalPodAutoscalers of autoscaling/v2.

Sources: kubernetes 1.36 pkg/apis/autoscaling/v2/defaults.go, pkg/apis/autoscaling/validation/validation.go. What the API server
converts from autoscaling/v1 is judged by its bounds and its target alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.container_resources import resource_name_errors
from harness.kube.admission.places import Place
from harness.kube.api.autoscalers import DOWN, UP, WINDOW_FIELD, metrics_of
from harness.kube.api.field_errors import FieldError
from harness.kube.api.names import dns_label_errors, path_segment_errors
from harness.kube.api.quantity import Quantity
from lazyrecords import dataclass

__all__ = ["autoscaler_errors", "default_autoscaler"]

_AT = Place("spec", ("spec",))
_LONGEST_PERIOD, _LONGEST_WINDOW = 1800, 3600
_SELECTIONS = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_SOURCES: Mapping[str, str] = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_CHECKED = ("object", "external", "pods", "resource", "containerResource")
"""In the API server's order: only the first of them is looked into."""
_FROM_1 = "must be greater than 0"
_CONVERTED = Place("spec.metrics[0].resource.target.averageUtilization", ("spec", "targetCPUUtilizationPercentage"))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The fields of a target of which a source of metrics needs one: the error without any, and with all of them."""

    fields: frozenset[str]
    named: str
    missing: str
    superfluous: str = ""
    both: str = ""


_MEASURED = _Choice(
    frozenset({"averageUtilization", "averageValue"}),
    *("averageUtilization", "must set either a target raw value or a target utilization"),
    *("averageValue", "may not set both a target raw value and a target utilization"),
)
_VALUES = frozenset({"value", "averageValue"})
_CHOICES: Mapping[str, _Choice] = {
    "resource": _MEASURED,
    "containerResource": _MEASURED,
    "object": _Choice(_VALUES, "averageValue", "must set either a target value or averageValue"),
    "external": _Choice(
        _VALUES,
        *("averageValue", "must set either a target value for metric or a per-pod target"),
        *("value", "may not set both a target value for metric and a per-pod target"),
    ),
    "pods": _Choice(frozenset({"averageValue"}), "averageValue", "must specify a positive target averageValue"),
}
_TARGETS = ("Utilization", "Value", "AverageValue")


def default_autoscaler(obj: dict[str, Any]) -> dict[str, Any]:
    """Return a HorizontalPodAutoscaler as the API server stores it: one replica at least, 80% of cpu, a behavior filled up."""
    spec = obj.get("spec") or {}
    made: dict[str, Any] = {}
    if spec.get("minReplicas") is None:
        made["minReplicas"] = 1
    if obj.get("apiVersion") == "autoscaling/v2" and not spec.get("metrics"):
        made["metrics"] = list(metrics_of({"spec": {}}))
    behavior = spec.get("behavior")
    if behavior is not None:
        rules = {way: {**base, **_stated(behavior.get(way))} for way, base in (("scaleUp", UP), ("scaleDown", DOWN))}
        if rules != behavior:
            made["behavior"] = rules
    return {**obj, "spec": {**spec, **made}} if made else obj


def _stated(rules: Mapping[str, Any] | None) -> dict[str, Any]:
    return {field: value for field, value in (rules or {}).items() if value is not None}


def autoscaler_errors(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a spec in the API server's order (validateHorizontalPodAutoscalerSpec)."""
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield _AT.child("minReplicas").invalid(least, "must be greater than or equal to 1")
    if not most:
        yield _AT.child("maxReplicas").required("must be set and greater than 0")
    elif most < 0:
        yield _AT.child("maxReplicas").invalid(most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield _AT.child("maxReplicas").invalid(most, "must be greater than or equal to `minReplicas`")
    yield from _reference_errors(spec.get("scaleTargetRef") or {}, _AT.child("scaleTargetRef"))
    metrics = spec.get("metrics") or ()
    share = None if metrics else spec.get("targetCPUUtilizationPercentage")
    if share is not None and share < 1:  # of autoscaling/v1: judged as the metric into which it is converted
        yield _CONVERTED.invalid(share, _FROM_1)
    for index, metric in enumerate(metrics):
        yield from _metric_errors(metric, _AT.child("metrics").index(index))
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield _AT.child("metrics").forbidden(why)
    for way in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(way)
        if rules is not None:
            yield from _rules_errors(rules, _AT.child("behavior").child(way))


def _reference_errors(reference: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    for field in ("kind", "name"):
        yield from _name_errors(reference.get(field) or "", at.child(field), "")


def _name_errors(name: str, at: Place, missing: str) -> Iterator[FieldError]:
    if not name:
        yield at.required(missing)
    yield from (at.invalid(name, why) for why in path_segment_errors(name))


def _metric_errors(metric: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    kind = metric.get("type") or ""
    if not kind:
        yield at.child("type").required("must specify a metric source type")
    if kind not in _SOURCES:
        yield at.child("type").unsupported(kind, tuple(_SOURCES))
    present = [field for field in _CHECKED if metric.get(field) is not None]
    if present:
        yield from _source_errors(present[0], metric[present[0]], at.child(present[0]))
    expected = _SOURCES.get(kind)
    if expected is None:
        yield at.child("type").unsupported(kind, tuple(_SOURCES))
    elif expected not in present:
        yield at.child(expected).required("must populate information for the given metric source")
    if len(present) != 1:
        why = "must populate the given metric source only"
        yield from (at.child(field).forbidden(why) for field in present if field != expected)


def _source_errors(field: str, source: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    measured = field in ("resource", "containerResource")
    if measured:
        yield from _resource_errors(field, source, at)
    else:
        if field == "object":
            yield from _reference_errors(source.get("describedObject") or {}, at.child("describedObject"))
        metric = source.get("metric") or {}
        yield from _name_errors(
            metric.get("name") or "", at.child("metric").child("name"), "must specify a metric name"
        )
    target, place = source.get("target") or {}, at.child("target")
    yield from _target_errors(target, place)
    stated = {name for name in ("averageUtilization", "averageValue", "value") if target.get(name) is not None}
    choice = _CHOICES[field]
    if not stated & choice.fields:
        yield place.child(choice.named).required(choice.missing)
    elif choice.both and stated >= choice.fields:
        yield place.child(choice.superfluous).forbidden(choice.both)


def _resource_errors(field: str, source: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    name, container = source.get("name"), source.get("container")
    if not name:
        yield at.child("name").required("must specify a resource name")
    elif field == "containerResource":
        yield from resource_name_errors(name, at.child("name"))
    if field == "containerResource" and not container:
        yield at.child("container").required("must specify a container")
    elif field == "containerResource":
        yield from (at.child("container").invalid(container, why) for why in dns_label_errors(str(container)))


def _target_errors(target: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    kind = target.get("type") or ""
    if not kind:
        yield at.child("type").required("must specify a metric target type")
    if kind not in _TARGETS:
        yield at.child("type").invalid(kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        amount = target.get(field)
        if amount is not None and Quantity.parse(amount).nano <= 0:
            yield at.child(field).invalid(amount, "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        yield at.child("averageUtilization").invalid(share, _FROM_1)


def _rules_errors(rules: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    window = rules.get(WINDOW_FIELD)
    if window is not None and window < 0:
        yield at.child(WINDOW_FIELD).invalid(window, "must be greater than or equal to zero")
    if window is not None and window > _LONGEST_WINDOW:
        yield at.child(WINDOW_FIELD).invalid(window, f"must be less than or equal to {_LONGEST_WINDOW}")
    select = rules.get("selectPolicy")
    if select is not None and select not in _SELECTIONS:
        yield at.child("selectPolicy").unsupported(select, _SELECTIONS)
    if not rules.get("policies"):
        yield at.child("policies").required("must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies") or ()):
        yield from _policy_errors(policy, at.child("policies").index(index))
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity.parse(tolerance).negative:
        yield at.child("tolerance").invalid(str(Quantity.stored(tolerance)), "must be greater than or equal to 0")


def _policy_errors(policy: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    if policy.get("type") not in _POLICIES:
        yield at.child("type").unsupported(policy.get("type") or "", _POLICIES)
    for field in ("value", "periodSeconds"):
        if (policy.get(field) or 0) <= 0:
            yield at.child(field).invalid(policy.get(field) or 0, "must be greater than zero")
    period = policy.get("periodSeconds") or 0
    if period > _LONGEST_PERIOD:
        yield at.child("periodSeconds").invalid(period, f"must be less than or equal to {_LONGEST_PERIOD}")
