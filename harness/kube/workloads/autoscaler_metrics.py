"""The metrics of a HorizontalPodAutoscaler's spec, and what they come to together.

Source: kubernetes 1.36 pkg/controller/podautoscaler/horizontal.go (computeReplicasForMetrics, computeStatusForResourceMetricGeneric,
computeReplicasForMetric), replica_calculator.go (GetExternalMetricReplicas).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.kube.api.autoscalers import metrics_of
from harness.kube.api.objects import Object, namespace_of, spec_of
from harness.kube.api.quantity import Format, Quantity
from harness.kube.api.selectors import Selector, SelectorError
from harness.kube.workloads.autoscaler_limits import Condition
from harness.kube.workloads.autoscaler_replicas import MetricError, Proposal, ResourceMetric, Tolerances
from lazyrecords import dataclass

__all__ = ["Recommendation", "recommendation", "tolerances_of"]

_TOLERANCES_FROM = (1, 35)
"""The version from which HPAConfigurableTolerance is on by default."""
_PER_MILLI = 1_000_000
_SERVED = {"Resource": "resource", "ContainerResource": "containerResource"}
_NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
_NO_EXTERNAL = "unable to fetch metrics from external metrics API: the server could not find the requested resource"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The replicas that the metrics ask for together; None where that cannot be said.

    `metric`: the one that asks for the most, in words. `error`: about those that failed. `events`: reason and message of each failure.
    """

    replicas: int | None
    metric: str
    statuses: Sequence[Mapping[str, Any]]
    active: Condition
    error: str
    events: Sequence[tuple[str, str]]
    settling: bool


def tolerances_of(autoscaler: Object, kubernetes: tuple[int, int]) -> Tolerances:
    """Return the tolerances of a spec, as far as this version of Kubernetes reads them."""
    behavior = spec_of(autoscaler).get("behavior") or {}
    if kubernetes < _TOLERANCES_FROM:
        return Tolerances()
    stated = {
        way: Quantity.parse((behavior.get(field) or {})["tolerance"]).nano / 10**9
        for way, field in (("down", "scaleDown"), ("up", "scaleUp"))
        if (behavior.get(field) or {}).get("tolerance") is not None
    }
    return Tolerances(**stated)


def recommendation(autoscaler: Object, current: int, propose: Callable[[ResourceMetric], Proposal]) -> Recommendation:
    """Return what the metrics of a HorizontalPodAutoscaler ask for: the most of all. One that fails keeps the others from taking pods away.

    `propose` returns what one of them asks for, and raises MetricError.
    """
    replicas, name, settling = 0, "", False
    metrics, namespace = metrics_of(autoscaler), namespace_of(autoscaler)
    statuses: list[Mapping[str, Any]] = []
    failures: list[tuple[str, str, str]] = []
    for metric in metrics:
        try:
            proposal, status, words = _proposed(metric, propose, namespace)
        except _MetricFailed as failed:
            failures.append((failed.reason, failed.message, str(failed)))
            statuses.append({"type": ""})
            continue
        statuses.append(status)
        settling = settling or proposal.settling
        if replicas == 0 or proposal.replicas > replicas:
            replicas, name = proposal.replicas, words
    error = ""
    if failures:
        error = f"invalid metrics ({len(failures)} invalid out of {len(metrics)}), first error is: {failures[0][2]}"
    active = Condition(
        "ScalingActive",
        "True",
        "ValidMetricFound",
        f"the HPA was able to successfully calculate a replica count from {name}",
    )
    unsure = len(failures) >= len(metrics) or (bool(failures) and replicas < current)
    if unsure:
        reason, message, _ = failures[0]
        active = Condition(
            "ScalingActive", "False", reason, f"the HPA was unable to compute the replica count: {message}"
        )
    events = [(reason, message) for reason, message, _ in failures]
    return Recommendation(None if unsure else replicas, name, statuses, active, error, events, settling)


class _MetricFailed(Exception):
    """A metric that could not be had; `reason` and `message` are the condition's, the text is that of the summary."""

    def __init__(self, reason: str, message: str, text: str) -> None:
        super().__init__(text)
        self.reason, self.message = reason, message


def _proposed(
    metric: Mapping[str, Any], propose: Callable[[ResourceMetric], Proposal], namespace: str
) -> tuple[Proposal, Mapping[str, Any], str]:
    """Return what one metric asks for, its status, and what it is in words. Raises _MetricFailed."""
    kind = str(metric.get("type"))
    if kind not in _SERVED:
        raise _unserved(metric, kind, namespace)
    field = _SERVED[kind]
    source = metric[field]
    target, resource, container = source["target"], source["name"], source.get("container", "")
    average = target.get("averageValue")
    wanted = ResourceMetric(
        resource,
        container,
        target.get("averageUtilization"),
        None if average is None else Quantity.parse(average).milli_value(),
    )
    try:
        proposal = propose(wanted)
    except MetricError as error:
        sort = "utilization" if average is None else "usage"
        message = f"failed to get {resource} {sort}: {error}"
        if container:
            text = f"failed to get {container} container metric value: {message}"
            raise _MetricFailed("FailedGetContainerResourceMetric", message, text) from None
        text = f"failed to get {resource} resource metric value: {message}"
        raise _MetricFailed("FailedGetResourceMetric", message, text) from None
    return proposal, _status(kind, field, source, proposal), _words(resource, container, average is None)


def _words(resource: str, container: str, shares: bool) -> str:
    if not shares:
        return f"{resource} resource"
    return f"{resource} {'container ' if container else ''}resource utilization (percentage of request)"


def _status(kind: str, field: str, source: Mapping[str, Any], proposal: Proposal) -> Mapping[str, Any]:
    form: Format = "BinarySI" if source["name"] == "memory" else "DecimalSI"
    current: dict[str, Any] = {"averageValue": str(Quantity(proposal.average * _PER_MILLI, form))}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    container = {"container": source["container"]} if "container" in source else {}
    return {"type": kind, field: {"name": source["name"], **container, "current": current}}


def _unserved(metric: Mapping[str, Any], kind: str, namespace: str) -> _MetricFailed:
    """Return the failure of a metric that comes from elsewhere: a cluster with metrics-server alone has no API of it."""
    field = kind.lower()
    source = metric.get(field) or {}
    name = str((source.get("metric") or {}).get("name"))
    averaged = (source.get("target") or {}).get("averageValue") is not None
    reason = f"FailedGet{kind}Metric"
    selector = (source.get("metric") or {}).get("selector")
    mistake = _mistake(selector)
    if kind == "External":
        external = f"{namespace}/{name}/{_selector_text(selector)}"
        message = (
            mistake or f"unable to get external metric {external}: {_NO_EXTERNAL} (get {name}.external.metrics.k8s.io)"
        )
        inner = f"failed to get {name} external metric: " if averaged else f"failed to get external metric {name}: "
        return _MetricFailed(reason, message, f"failed to get {name} external metric value: {inner}{message}")
    if mistake:
        return _MetricFailed(reason, mistake, f"failed to get {field} metric value: {mistake}")
    message = f"unable to get metric {name}: {_NO_CUSTOM}"
    inner = ""
    if kind == "Object":
        described = source.get("describedObject") or {}
        message += f" on {described.get('kind')} {namespace}/{described.get('name')}"
        inner = f"failed to get {name} object metric: " if averaged else ""
    return _MetricFailed(reason, message, f"failed to get {field} metric value: {inner}{message}")


def _mistake(selector: Mapping[str, Any] | None) -> str:
    """Return the mistake in the selector of a metric, which is parsed before anybody is asked for it; empty where there is none."""
    try:
        Selector.parse(selector)
    except SelectorError as error:
        return str(error)
    return ""


def _selector_text(selector: Mapping[str, Any] | None) -> str:
    """Return a selector as Go prints a pointer to one (k8s.io/apimachinery pkg/apis/meta/v1/generated.pb.go)."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        "LabelSelectorRequirement{"
        f"Key:{part['key']},Operator:{part['operator']},Values:[{' '.join(part.get('values') or ())}],}},"
        for part in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
