"""Changes of where a pod may go that are allowed while it waits at a scheduling gate: only additions.

Source: kubernetes pkg/apis/core/validation/validation.go (validateNodeSelectorMutation, validateNodeAffinityMutation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.field_errors import ErrorType, FieldError, Verbatim, go_json

__all__ = ["gated_update_errors"]

_SELECTOR = ("spec", "nodeSelector")
_TERMS = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_ASKS = ("matchExpressions", "matchFields")

_Term = Mapping[str, Any]


def gated_update_errors(spec: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of an update that takes away or changes the nodeSelector or required node affinity of a gated pod."""
    selector, selected = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in selected.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        shown = Verbatim(go_json(selector or None))
        yield FieldError(ErrorType.INVALID, ".".join(_SELECTOR), detail, shown, _SELECTOR)
    terms, terms_before = _terms(spec), _terms(before)
    field = ".".join(_TERMS)
    if terms_before and len(terms) != len(terms_before):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        shown = Verbatim(go_json([_as_go_names_it(term) for term in terms] or None))
        yield FieldError(ErrorType.INVALID, field, detail, shown, _TERMS)
        return
    for index, (term, was) in enumerate(zip(terms, terms_before, strict=False)):
        if not _only_adds(term, was):
            detail = "only additions are allowed (no mutations or deletions)"
            shown = Verbatim(go_json(_as_go_names_it(term)))
            yield FieldError(ErrorType.INVALID, f"{field}[{index}]", detail, shown, (*_TERMS, index))


def _terms(spec: Mapping[str, Any]) -> Sequence[_Term]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()


def _only_adds(term: _Term, was: _Term) -> bool:
    """Return whether each list begins as it was; a term that asks for nothing admits no node, so it may not begin to ask."""
    now = {field: _requirements(term, field) for field in _ASKS}
    then = {field: _requirements(was, field) for field in _ASKS}
    if not any(then.values()):
        return not any(now.values())
    return all(now[field][: len(then[field])] == then[field] for field in _ASKS)


def _requirements(term: _Term, field: str) -> list[Mapping[str, Any]]:
    """The requirements of a term, by the names of the API server's own type."""
    return [
        {
            "Key": requirement.get("key") or "",
            "Operator": requirement.get("operator") or "",
            "Values": requirement.get("values") or None,
        }
        for requirement in term.get(field) or ()
    ]


def _as_go_names_it(term: _Term) -> Mapping[str, Any]:
    return {f"{field[:1].upper()}{field[1:]}": _requirements(term, field) or None for field in _ASKS}
