"""Validation of Deployments and their like beside their pods: counts, selector, rollout, restart policy.

Sources: kubernetes pkg/apis/apps/validation/validation.go, pkg/apis/batch/validation/validation.go, pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.kube.admission.amount_validation import nonnegative_errors
from harness.kube.admission.job_validation import cron_job_errors, job_errors
from harness.kube.admission.places import Place
from harness.kube.admission.pod_validation import selector_errors
from harness.kube.admission.rollout_validation import daemon_set_errors, deployment_errors, stateful_set_errors
from harness.kube.api.field_errors import FieldError
from harness.kube.api.names import dns_label_errors
from harness.kube.api.selectors import Selector, SelectorError

__all__ = ["workload_errors"]

_MISMATCH = "`selector` does not match template `labels`"
_EMPTY: Mapping[str, str] = {
    "Deployment": "empty selector is invalid for deployment",
    "ReplicaSet": "empty selector is invalid for deployment",
    "StatefulSet": "empty selector is invalid for statefulset",
    "DaemonSet": "empty selector is invalid for daemonset",
}
"""Messages about a selector without a condition; a ReplicaSet gets a Deployment's."""
_UNREADABLE: Mapping[str, str] = {
    "Deployment": "invalid label selector",
    "ReplicaSet": "invalid label selector",
    "StatefulSet": "",
}
"""Further messages about a selector that cannot be read; a DaemonSet gets none."""
_AT = Place("spec", ("spec",))
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("replicas",),
    "ReplicaSet": ("replicas", "minReadySeconds"),
    "StatefulSet": ("replicas", "minReadySeconds"),
    "DaemonSet": (),
    "ReplicationController": ("minReadySeconds",),
}
"""Fields that are judged before the template."""
_ALWAYS = "Always"


def workload_errors(
    kind: str, spec: Mapping[str, Any], pods: Iterable[FieldError] = (), old: Mapping[str, Any] | None = None
) -> Iterator[FieldError]:
    """Yield the errors of a workload's spec, `old` before, in the API server's order; `pods` are those of its template."""
    if kind == "Job":
        yield from job_errors(spec, _AT, pods)
        return
    if kind == "CronJob":
        yield from cron_job_errors(spec, old, _AT, pods)
        return
    if kind == "StatefulSet":
        yield from stateful_set_errors(spec)
    yield from nonnegative_errors(spec, _AT, *_COUNTS[kind])
    if kind == "ReplicationController":
        if not spec.get("selector"):
            yield _AT.child("selector").required("")
        yield from nonnegative_errors(spec, _AT, "replicas")
    if kind == "StatefulSet":
        yield from nonnegative_errors(spec.get("ordinals") or {}, _AT.child("ordinals"), "start")
        service = spec.get("serviceName")
        if service:
            yield from (_AT.child("serviceName").invalid(service, why) for why in dns_label_errors(service))
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if kind == "ReplicationController":
        if not template:
            yield _AT.child("template").required("")
            return
        yield from _map_errors(spec.get("selector") or {}, labels)
    else:
        yield from _selector_errors(kind, spec.get("selector"), labels)
    # An absent selector is a matter of the object's shape.
    if "spec" not in template:
        yield _AT.child("template").child("spec").child("containers").required("")
    yield from pods
    yield from _ending_errors(kind, template.get("spec") or {})
    if kind == "Deployment":
        yield from deployment_errors(spec)
    elif kind == "DaemonSet":
        yield from daemon_set_errors(spec)


def _ending_errors(kind: str, spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of how pods end: those of these workloads do not."""
    at, policy = _AT.child("template").child("spec"), spec.get("restartPolicy") or _ALWAYS
    place = at.child("restartPolicy")
    if policy != _ALWAYS:
        yield place.unsupported(policy, (_ALWAYS,))
    if spec.get("activeDeadlineSeconds") is not None:
        owner = "ReplicaSet" if kind == "Deployment" else kind
        yield at.child("activeDeadlineSeconds").forbidden(f"activeDeadlineSeconds in {owner} is not Supported")


def _map_errors(selector: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[FieldError]:
    """Yield the error of a map of labels that the template does not have (ValidatePodTemplateSpecForRC)."""
    if any(labels.get(key) != value for key, value in selector.items()):
        yield _AT.child("template").child("metadata").child("labels").invalid(labels, _MISMATCH)


def _selector_errors(kind: str, selector: object, labels: Mapping[str, str]) -> Iterator[FieldError]:
    if not isinstance(selector, Mapping):
        return
    if not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield _AT.child("selector").invalid(selector, _EMPTY[kind])
        return
    yield from selector_errors(selector, _AT.child("selector"))
    try:
        matches = Selector.parse(selector).matches(labels)
    except SelectorError:
        if kind in _UNREADABLE:
            yield _AT.child("selector").invalid(selector, _UNREADABLE[kind])
        return
    if not matches:
        yield _AT.child("template").child("metadata").child("labels").invalid(labels, _MISMATCH)
