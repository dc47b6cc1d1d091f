"""Refusals of a real API server as rejections: the same layers, rules and places that the memory cluster names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.karpenter.validation.admission import Crds, label_key
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.kube.api.field_errors import Pointer
from harness.kube.api.objects import Object, name_of
from harness.kube.api.status import ApiError

__all__ = ["core_rejections_of", "explainer", "rejections_of"]

_DETAIL = re.compile(r'[A-Z][a-z ]+: (?:"(?:[^"\\]|\\.)*"|[^\s:]+): (.*)', re.DOTALL)
_EVALUATING = "evaluating rule: "
"""The words before a rule's own message where the rule came to no result."""
_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def explainer(crds: Callable[[], Crds]) -> Callable[[ApiError, Object | None], ApiError]:
    """Return a function that gives a refusal its rejections as cause, where the memory cluster's admission would."""

    def explain(error: ApiError, sent: Object | None) -> ApiError:
        if sent is None or error.reason != "Invalid":
            return error
        custom = "." in str(error.details.get("group") or "")
        rejections = rejections_of(error, sent, crds()) if custom else core_rejections_of(error, sent)
        return ApiError(error.code, error.reason, error.message, details=error.details, cause=rejections)

    return explain


def core_rejections_of(error: ApiError, sent: Object) -> tuple[Rejection, ...]:
    """Return one rejection for each cause of the Status of a core kind; a server that validates twice repeats some, or adds a diff."""
    subject = f"{error.details.get('kind') or sent.get('kind') or ''}/{error.details.get('name') or name_of(sent)}"
    by_text: dict[str, Rejection] = {}
    for cause in error.details.get("causes") or ():
        field, body = cause.get("field") or "", (cause.get("message") or "").partition("\n")[0]
        text = f"{field}: {body}"
        pointer, _ = place_of(field, sent)
        message = _without_value(body).removeprefix("Forbidden: ")
        by_text.setdefault(text, Rejection(RejectionLayer.API_SERVER, subject, field, None, "", message, text, pointer))
    return tuple(by_text.values())


def rejections_of(error: ApiError, sent: Object, crds: Crds) -> tuple[Rejection, ...]:
    """One rejection for each cause of the Status."""
    # the kind of a patch stands in the answer alone
    kind = str(error.details.get("kind") or sent.get("kind") or "")
    name = str(error.details.get("name") or name_of(sent))
    rules = {(row.path, row.rule.message): row for row in crds.rules(kind)}
    causes = error.details.get("causes") or ()
    return tuple(rejection for cause in causes for rejection in _rejections(cause, f"{kind}/{name}", sent, rules))


def _rejections(
    cause: Mapping[str, Any], subject: str, sent: Object, rules: Mapping[tuple[str, str], Any]
) -> Iterator[Rejection]:
    """One for each part of the value that breaks the rule: the server names only the field."""
    field, body = cause.get("field") or "", cause.get("message") or ""
    path = re.sub(r"\[\d+\]", "[]", field)
    row = next((row for (place, message), row in rules.items() if place == path and body.endswith(message)), None)
    layer = RejectionLayer.CRD_SCHEMA
    if row is not None:
        layer = RejectionLayer.NODECLAIM_CEL if subject.startswith("NodeClaim/") else RejectionLayer.CRD_CEL
    pointer, value = place_of(field, sent)
    culprits: Iterable[Pointer] = ((),)
    if row is not None and row.rule.culprits is not None and value is not None:
        culprits = row.rule.culprits(value) or ((),)
    for culprit in culprits:
        where = (*pointer, *culprit)
        yield Rejection(
            layer=layer,
            object=subject,
            path=field,
            key=label_key(sent, where),
            rule=row.rule.id if row is not None else "",
            message=_without_value(body) if row is None or _EVALUATING in body else row.rule.message,
            text=f"{field}: {body}",
            pointer=where,
        )


def _without_value(body: str) -> str:
    """`Invalid value: "x": why` → `why`; the value may hold anything, but no colon stands between quotes and the reason."""
    match_ = _DETAIL.match(body)
    return match_[1] if match_ else body


def place_of(field: str, obj: Object) -> tuple[Pointer, Any]:
    """`spec.requirements[1].key` as the steps to that place, as far as the object goes, and the value there (or None)."""
    steps: list[str | int] = []
    here: Any = obj
    for name, index in _PART.findall(field):
        step: str | int = int(index) if index.isdigit() else (name or index)
        steps.append(step)
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            return tuple(steps), None
    return tuple(steps), here
