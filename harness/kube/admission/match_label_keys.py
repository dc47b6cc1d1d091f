"""The expressions that the API server makes of matchLabelKeys and mismatchLabelKeys of a new pod.

Sources: kubernetes 1.36 pkg/registry/core/pod/strategy.go (PrepareForCreate), pkg/features/kube_features.go (gates by version).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.kube.api.versions import Version

__all__ = ["merge_label_keys", "merges_spread", "without_merged_keys"]

Part = Mapping[str, Any]
Change = Callable[[Part], Part]

_SPREAD_MERGES = Version(1, 34)  # MatchLabelKeysInPodTopologySpreadSelectorMerge, beta
_AFFINITY_KNOWS = Version(1, 31)  # MatchLabelKeysInPodAffinity, beta; before that the fields are dropped
_OPERATORS = {"matchLabelKeys": "In", "mismatchLabelKeys": "NotIn"}
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def merges_spread(kubernetes: Version) -> bool:
    """Return whether an API server of this version writes matchLabelKeys of spread constraints into their selectors."""
    return kubernetes >= _SPREAD_MERGES


def merge_label_keys(pod: dict[str, Any], kubernetes: Version) -> dict[str, Any]:
    """Return a new pod with the selector expressions that an API server of this version adds for matchLabelKeys.

    Return the pod itself where none is added.
    """
    labels: Part = pod["metadata"].get("labels") or {}
    knows = kubernetes >= _AFFINITY_KNOWS

    def of_term(term: Part) -> Part:
        if knows:
            return _merged(term, labels)
        return {field: value for field, value in term.items() if field not in _OPERATORS}

    def of_constraint(constraint: Part) -> Part:
        return _merged(constraint, labels) if merges_spread(kubernetes) else constraint

    return _with_selectors(pod, of_constraint, of_term)


def without_merged_keys(pod: dict[str, Any]) -> dict[str, Any]:
    """A pod that was stored once, as it was given: without the expressions that the API server added at its creation."""
    labels: Part = pod["metadata"].get("labels") or {}
    return _with_selectors(pod, lambda part: _parted(part, labels), lambda part: _parted(part, labels))


def _added(part: Part, labels: Part) -> list[Part]:
    """The expressions for the keys that the pod has."""
    return [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in _OPERATORS.items()
        for key in part.get(field) or ()
        if key in labels
    ]


def _merged(part: Part, labels: Part) -> Part:
    selector, added = part.get("labelSelector"), _added(part, labels)
    if selector is None or not added:
        return part
    expressions = [*(selector.get("matchExpressions") or ()), *added]
    return {**part, "labelSelector": {**selector, "matchExpressions": expressions}}


def _parted(part: Part, labels: Part) -> Part:
    selector, added = part.get("labelSelector"), _added(part, labels)
    if selector is None or not added:
        return part
    expressions = list(selector.get("matchExpressions") or ())
    if expressions[-len(added) :] != added:
        return part
    own_expressions = expressions[: -len(added)]
    rest = {field: value for field, value in selector.items() if field != "matchExpressions"}
    return {**part, "labelSelector": {**rest, "matchExpressions": own_expressions} if own_expressions else rest}


def _with_selectors(pod: dict[str, Any], constraint: Change, term: Change) -> dict[str, Any]:
    """The pod with its spread constraints and its terms of pod affinity changed; the same one where it has neither."""
    spec: Part = pod.get("spec") or {}
    changed: dict[str, Any] = {}
    constraints: Sequence[Part] = spec.get("topologySpreadConstraints") or ()
    if any(spread.get("matchLabelKeys") for spread in constraints):
        changed["topologySpreadConstraints"] = [constraint(spread) for spread in constraints]
    affinity: Part = spec.get("affinity") or {}
    kinds = {
        kind: _with_terms(affinity[kind], term) for kind in ("podAffinity", "podAntiAffinity") if affinity.get(kind)
    }
    if any(kinds[kind] != affinity[kind] for kind in kinds):
        changed["affinity"] = {**affinity, **kinds}
    return {**pod, "spec": {**spec, **changed}} if changed else pod


def _with_terms(terms: Part, change: Change) -> Part:
    made = dict(terms)
    if terms.get(_REQUIRED):
        made[_REQUIRED] = [change(required) for required in terms[_REQUIRED]]
    if terms.get(_PREFERRED):
        made[_PREFERRED] = [
            {**weighted, "podAffinityTerm": change(weighted["podAffinityTerm"])}
            if weighted.get("podAffinityTerm")
            else weighted
            for weighted in terms[_PREFERRED]
        ]
    return made
