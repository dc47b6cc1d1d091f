"""What the API server refuses in Deployments and their like beside the pods' template: replicas, selector, a Job's restart policy.

Sources: kubernetes pkg/apis/apps/validation/validation.go, pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.selectors import Selector

__all__ = ["workload_errors"]

_MISMATCH = "`selector` does not match template `labels`"
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
    if not selector:
        return  # its absence is a matter of the object's shape
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not Selector.parse(selector).matches(labels):
        yield _AT.child("template").child("metadata").child("labels").invalid(labels, _MISMATCH)
