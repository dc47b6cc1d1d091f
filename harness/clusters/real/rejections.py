"""What a real API server refused, as rejections: the same layers, rules and places that the memory cluster names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.validation.admission import label_key
from harness.karpenter.validation.crds import CrdSet
from harness.karpenter.validation.layers import Layer, Rejection
from harness.kube.field_errors import Pointer
from harness.kube.objects import Object, name_of
from harness.kube.status import ApiError

__all__ = ["explainer", "rejections_of"]

_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def explainer(crds: Callable[[], CrdSet]) -> Callable[[ApiError, Object | None], ApiError]:
    """Gives a refusal of a custom resource its rejections as cause, where the memory cluster's admission would."""

    def explain(error: ApiError, sent: Object | None) -> ApiError:
        if sent is None or error.reason != "Invalid" or "." not in str(error.details.get("group") or ""):
            return error
        found = rejections_of(error, sent, crds())
        return ApiError(error.code, error.reason, error.message, details=error.details, cause=found)

    return explain


def rejections_of(error: ApiError, sent: Object, crds: CrdSet) -> tuple[Rejection, ...]:
    """One rejection for each cause of the Status."""
    kind = str(sent.get("kind") or "")
    rules = {row.rule.message: row for row in crds.rules(kind)}
    return tuple(_rejection(cause, kind, sent, rules) for cause in error.details.get("causes") or ())


def _rejection(cause: Mapping[str, Any], kind: str, sent: Object, rules: Mapping[str, Any]) -> Rejection:
    field, body = cause.get("field") or "", cause.get("message") or ""
    row = next((row for message, row in rules.items() if body.endswith(message)), None)
    layer = Layer.CRD_SCHEMA
    if row is not None:
        layer = Layer.NODECLAIM_CEL if kind == "NodeClaim" else Layer.CRD_CEL
    pointer = pointer_of(field, sent)
    return Rejection(
        layer=layer,
        object=f"{kind}/{name_of(sent)}",
        path=field,
        key=label_key(sent, pointer),
        rule=row.rule.id if row is not None else "",
        message=row.rule.message if row is not None else body,
        text=f"{field}: {body}",
        pointer=pointer,
    )


def pointer_of(field: str, obj: Object) -> Pointer:
    """`spec.requirements[1].key` as the steps to that place, as far as the object goes."""
    steps: list[str | int] = []
    here: Any = obj
    for name, index in _PART.findall(field):
        step: str | int = int(index) if index.isdigit() else (name or index)
        steps.append(step)
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            break
    return tuple(steps)
