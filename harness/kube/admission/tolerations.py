"""Validation of tolerations, and the merge of two lists.

Sources: kubernetes pkg/apis/core/validation/validation.go ValidateTolerations, pkg/util/tolerations/tolerations.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.names import label_value_errors, qualified_name_errors

__all__ = ["merged_tolerations", "toleration_errors"]

Part = Mapping[str, Any]
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
# behind TaintTolerationComparisonOperators, which is off (alpha since 1.35; unknown before, so refused, too)
_COMPARISONS = ("Lt", "Gt")


def toleration_errors(toleration: Part, at: Place) -> Iterator[FieldError]:
    """Yield the errors of a toleration (ValidateTolerations)."""
    key, value, effect = (toleration.get(field) or "" for field in ("key", "value", "effect"))
    operator = toleration.get("operator") or ""
    if key:
        yield from (at.child("key").invalid(key, why) for why in qualified_name_errors(key))
    elif operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield at.child("operator").invalid(operator, detail)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield at.child("effect").invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("", "Equal"):
        whys = label_value_errors(value)
        if whys:
            yield at.child("operator").invalid(value, ";".join(whys))
    elif operator == "Exists":
        if value:
            yield at.child("operator").invalid(value, "value must be empty when `operator` is 'Exists'")
    elif operator in _COMPARISONS:
        yield at.child("operator").unsupported(operator, (*_OPERATORS, *_COMPARISONS))
    else:
        yield at.child("operator").unsupported(operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        yield at.child("effect").unsupported(effect, _EFFECTS)


def merged_tolerations(tolerations: Sequence[Part]) -> list[Part]:
    """Return the tolerations that no other covers; of equal ones the first stays."""
    merged: list[Part] = []
    for number, toleration in enumerate(tolerations):
        if any(_covers(other, toleration) for other in merged):
            continue
        if any(dict(other) != dict(toleration) and _covers(other, toleration) for other in tolerations[number + 1 :]):
            continue
        merged.append(toleration)
    return merged


def _covers(wide: Part, narrow: Part) -> bool:
    """Return whether one toleration tolerates all that another does (tolerations.isSuperset)."""
    if dict(wide) == dict(narrow):
        return True
    operator, effect = wide.get("operator") or "", wide.get("effect") or ""
    if (narrow.get("key") or "") != (wide.get("key") or "") and (wide.get("key") or operator != "Exists"):
        return False
    if effect and effect != (narrow.get("effect") or ""):
        return False
    seconds = wide.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None:
        least = narrow.get("tolerationSeconds")
        if least is None or least > seconds:
            return False
    if operator in ("", "Equal"):
        return narrow.get("operator") == "Equal" and (narrow.get("value") or "") == (wide.get("value") or "")
    return bool(operator == "Exists")
