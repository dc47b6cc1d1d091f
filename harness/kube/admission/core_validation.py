"""Validation of core objects beyond their metadata, as far as scenarios come across it.

Source: kubernetes pkg/apis/core/validation/validation.go (ValidatePodUpdate, ValidateNode, ValidateNodeUpdate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.admission.amount_validation import above_all_errors, amount_errors
from harness.kube.admission.gated_pods import gated_update_errors
from harness.kube.admission.places import Place
from harness.kube.admission.pod_validation import selector_errors
from harness.kube.api.field_errors import ErrorType, FieldError, Pointer, Verbatim, go_json, print_value
from harness.kube.api.names import label_value_errors, qualified_name_errors
from harness.kube.api.objects import Object, spec_of

__all__ = ["budget_errors", "node_errors", "pod_update_errors"]

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAY_CHANGE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_FIXED = f"pod updates may not change fields other than {','.join(_MAY_CHANGE)}"
_CONTAINERS = ("containers", "initContainers")
_SPEC = Place("spec", ("spec",))
_CHECKED_APART = (*_CONTAINERS, "activeDeadlineSeconds", "tolerations", "schedulingGates")


def budget_errors(spec: Mapping[str, Any]) -> list[FieldError]:
    """Return the errors of the amounts and the selector of a PodDisruptionBudget (pkg/apis/policy/validation/validation.go)."""
    errors: list[FieldError] = []
    amounts = {field: spec[field] for field in ("minAvailable", "maxUnavailable") if spec.get(field) is not None}
    if len(amounts) == 2:
        errors.append(_error(ErrorType.INVALID, ("spec",), "minAvailable and maxUnavailable cannot be both set"))
    for field, amount in amounts.items():
        errors.extend(amount_errors(amount, _SPEC.child(field)))
        errors.extend(above_all_errors(amount, _SPEC.child(field)))
    errors.extend(selector_errors(spec.get("selector") or {}, _SPEC.child("selector")))
    return errors


def node_errors(node: Object, old: Object | None) -> list[FieldError]:
    """Return the errors of a Node's spec, as it is and as a change of the one before."""
    errors: list[FieldError] = []
    if old is not None:
        before = spec_of(old).get("providerID")
        if before and before != spec_of(node).get("providerID"):
            detail = 'node updates may not change providerID except from "" to valid'
            errors.append(_error(ErrorType.FORBIDDEN, ("spec", "providerID"), detail))
    errors.extend(_taint_errors(spec_of(node).get("taints") or ()))
    return errors


def _taint_errors(taints: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """Return the errors of a Node's taints, at the place that the API server calls `metadata.taints`."""
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        key, value, effect = (str(taint.get(field) or "") for field in ("key", "value", "effect"))
        field, at = f"metadata.taints[{index}]", ("spec", "taints", index)
        errors.extend(
            FieldError(ErrorType.INVALID, f"{field}.key", why, key, (*at, "key")) for why in qualified_name_errors(key)
        )
        if whys := label_value_errors(value):
            errors.append(FieldError(ErrorType.INVALID, f"{field}.value", ";".join(whys), value, (*at, "value")))
        if not effect:
            errors.append(FieldError(ErrorType.REQUIRED, f"{field}.effect", pointer=(*at, "effect")))
        elif effect not in _EFFECTS:
            supported = ", ".join(print_value(effect) for effect in _EFFECTS)
            detail = f"supported values: {supported}"
            errors.append(FieldError(ErrorType.NOT_SUPPORTED, f"{field}.effect", detail, effect, (*at, "effect")))
        if (key, effect) in seen:
            shown = Verbatim(_taint_json(taint))
            detail = "taints must be unique by key and effect pair"
            errors.append(FieldError(ErrorType.DUPLICATE, field, detail, shown, at))
        seen.add((key, effect))
    return errors


def _taint_json(taint: Mapping[str, Any]) -> str:
    """Return a taint as Go writes the API server's own type: capital names, nothing left out."""
    rows = [("Key", taint.get("key") or ""), ("Value", taint.get("value") or ""), ("Effect", taint.get("effect") or "")]
    rows.append(("TimeAdded", taint.get("timeAdded")))
    return "{" + ",".join(f'"{name}":{go_json(value)}' for name, value in rows) + "}"


def pod_update_errors(pod: Object, old: Object) -> list[FieldError]:
    """Return the errors of an update of a pod's spec, without the diff of both specs that the API server adds."""
    new, before = spec_of(pod), spec_of(old)
    if new == before:
        return []
    errors: list[FieldError] = []
    for field in _CONTAINERS:
        containers = new.get(field) or ()
        if len(containers) != len(before.get(field) or ()):
            detail = "pod updates may not add or remove containers"
            return [*errors, _error(ErrorType.FORBIDDEN, ("spec", field), detail)]
        errors.extend(
            FieldError(ErrorType.REQUIRED, f"spec.{field}[{index}].image", pointer=("spec", field, index, "image"))
            for index, container in enumerate(containers)
            if not container.get("image") and (before.get(field) or ())[index].get("image")
        )
    deadline = _deadline_error(new.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds"))
    if deadline is not None:
        errors.append(deadline)
        if new.get("activeDeadlineSeconds") is not None:
            return errors
    if not all(
        any(_same_but_seconds(toleration, present) for present in new.get("tolerations") or ())
        for toleration in before.get("tolerations") or ()
    ):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        errors.append(_error(ErrorType.FORBIDDEN, ("spec", "tolerations"), detail))
    gates = [gate.get("name") for gate in before.get("schedulingGates") or ()]
    for index, new_gate in enumerate(new.get("schedulingGates") or ()):
        if new_gate.get("name") not in gates:
            detail = f"only deletion is allowed, but found new scheduling gate '{new_gate.get('name')}'"
            field = f"spec.schedulingGates[{index}].name"
            errors.append(
                FieldError(ErrorType.FORBIDDEN, field, detail, pointer=("spec", "schedulingGates", index, "name"))
            )
    if gates:
        errors.extend(gated_update_errors(new, before))
    if _fixed_parts(new, gated=bool(gates)) != _fixed_parts(before, gated=bool(gates)) and not _grace_is_mended(
        new, before
    ):
        errors.append(_error(ErrorType.FORBIDDEN, ("spec",), _FIXED))
    return errors


def _fixed_parts(spec: Mapping[str, Any], *, gated: bool) -> dict[str, Any]:
    """Return the parts of a spec that no update changes; a pod that waits at a gate may still be sent elsewhere."""
    fixed = {key: value for key, value in spec.items() if key not in _CHECKED_APART}
    if gated:
        fixed.pop("nodeSelector", None)
        affinity = {key: value for key, value in (spec.get("affinity") or {}).items() if key != "nodeAffinity"}
        fixed["affinity"] = affinity
    for field in _CONTAINERS:
        fixed[field] = [
            {key: value for key, value in container.items() if key != "image"} for container in spec.get(field) or ()
        ]
    return fixed


def _grace_is_mended(new: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Return whether the only change is that a negative grace period becomes 1."""
    if int(before.get("terminationGracePeriodSeconds") or 0) >= 0 or new.get("terminationGracePeriodSeconds") != 1:
        return False
    mended = {**new, "terminationGracePeriodSeconds": before["terminationGracePeriodSeconds"]}
    gated = bool(before.get("schedulingGates"))
    return _fixed_parts(mended, gated=gated) == _fixed_parts(before, gated=gated)


def _deadline_error(new: int | None, before: int | None) -> FieldError | None:
    at = ("spec", "activeDeadlineSeconds")
    if new is None:
        detail = "must not update from a positive integer to nil value"
        return None if before is None else _error(ErrorType.INVALID, at, detail, None)
    if not 0 <= new < 2**31:
        return _error(ErrorType.INVALID, at, "must be between 0 and 2147483647, inclusive", new)
    if before is not None and before < new:
        return _error(ErrorType.INVALID, at, "must be less than or equal to previous value", new)
    return None


def _same_but_seconds(toleration: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(toleration.get(key) == other.get(key) for key in {*toleration, *other} - {"tolerationSeconds"})


_NO_VALUE = object()


def _error(kind: ErrorType, at: Pointer, detail: str, value: Any = _NO_VALUE) -> FieldError:
    field = ".".join(str(part) for part in at)
    if value is _NO_VALUE:
        return FieldError(kind, field, detail, pointer=at)
    return FieldError(kind, field, detail, value, at)
