"""What the API server refuses in Deployments and their like beside the pods' template: replicas, selector, a Job's restart policy.

Sources: kubernetes pkg/apis/apps/validation/validation.go, pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.admission.pod_validation import selector_errors
from harness.kube.api.field_errors import FieldError
from harness.kube.api.selectors import Selector, SelectorError

__all__ = ["workload_errors"]

_MISMATCH = "`selector` does not match template `labels`"
_EMPTY: Mapping[str, str] = {
    "Deployment": "empty selector is invalid for deployment",
    "ReplicaSet": "empty selector is invalid for deployment",
    "StatefulSet": "empty selector is invalid for statefulset",
    "DaemonSet": "empty selector is invalid for daemonset",
}
"""What is said of a selector without a condition; of a ReplicaSet's as of a Deployment's."""
_UNREADABLE: Mapping[str, str] = {
    "Deployment": "invalid label selector",
    "ReplicaSet": "invalid label selector",
    "StatefulSet": "",
}
"""What is said besides of a selector that cannot be read; of a DaemonSet's nothing."""
_NONNEGATIVE = "must be greater than or equal to 0"
_AT = Place("spec", ("spec",))
_COUNTS = ("replicas", "parallelism", "completions")


def workload_errors(kind: str, spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """The errors of a workload's spec, without those of the pods that it makes."""
    for field in _COUNTS:
        count = spec.get(field)
        if isinstance(count, int) and count < 0:
            yield _AT.child(field).invalid(count, _NONNEGATIVE)
    template = spec.get("template") or {}
    if kind == "Job":
        policy = (template.get("spec") or {}).get("restartPolicy") or "Always"
        place = _AT.child("template").child("spec").child("restartPolicy")
        if policy == "Always":
            yield place.required('valid values: "OnFailure", "Never"')
        elif policy not in ("OnFailure", "Never"):
            yield place.unsupported(policy, ("OnFailure", "Never"))
        return
    selector = spec.get("selector")
    labels = (template.get("metadata") or {}).get("labels") or {}
    if isinstance(selector, Mapping) and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield _AT.child("selector").invalid(selector, _EMPTY[kind])
    elif isinstance(selector, Mapping):
        yield from _selector_errors(kind, selector, labels)
    # An absent selector is a matter of the object's shape.
    if "spec" not in template:
        yield _AT.child("template").child("spec").child("containers").required("")


def _selector_errors(kind: str, selector: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[FieldError]:
    yield from selector_errors(selector, _AT.child("selector"))
    try:
        matches = Selector.parse(selector).matches(labels)
    except SelectorError:
        if kind in _UNREADABLE:
            yield _AT.child("selector").invalid(selector, _UNREADABLE[kind])
        return
    if not matches:
        yield _AT.child("template").child("metadata").child("labels").invalid(labels, _MISMATCH)
