"""Wider wishes of a pod: one more value for a required affinity term, a nearer bound, another amount for a selector; not yet tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.candidates import Candidate, Looked, Rank, expression_text, required_terms
from harness.explain.advice.edits import setting
from harness.karpenter.requirements import Conflicts
from harness.karpenter.scheduling.reasons.ledger import NodePoolExcludes, PodExcludes, PoolTried, TypeVerdict
from harness.karpenter.scheduling.reasons.pods import RequirementsIncompatible
from harness.kube.api.labels import INSTANCE_TYPE, OS, ZONE
from harness.kube.api.objects import spec_of

__all__ = ["widening_candidates"]

_FEW = 2  # values of one key that are proposed
_BOUNDS: Mapping[str, int] = {"Gt": -1, "Gte": 0, "Lt": 1, "Lte": 0}
"""Operator → how far from a value the bound has to be that just lets it in."""
_NOTHING = {"0"}  # GPUs in place of some: not what anybody means
_ELSEWHERE = (INSTANCE_TYPE, ZONE)  # other_sizes and other_zones know better ones


def widening_candidates(pod: Mapping[str, Any], looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    """For each wish of the pod that alone keeps it from sizes, or from a NodePool, the values that would do, the nearest first."""
    values = _values(looked_at)
    for path, index, expression in required_terms(pod):
        key, operator, given = expression["key"], expression["operator"], list(expression.get("values") or ())
        others = [one for one in values.get(key, ()) if one not in given]
        if key == OS or not given:
            continue
        if operator == "In":
            for other in _nearest(given[0], others, values.get(key, {})):
                told = f"also allow {other} for {key} in the pod's required node affinity"
                yield Candidate(Rank.ALLOW, told, setting((*path, index), "values", [*given, other]))
        elif operator in _BOUNDS and given[0].isdecimal():
            for other in _nearest(given[0], others, values.get(key, {}))[:1]:
                bound = str(int(other) + _BOUNDS[operator])
                told = f"ask for {key} {operator} {bound} in place of {expression_text(expression)} in the pod's required node affinity"
                yield Candidate(Rank.ALLOW, told, setting((*path, index), "values", [bound]))
    for key, value in (spec_of(pod).get("nodeSelector") or {}).items():
        if key in _ELSEWHERE or not str(value).isdecimal():
            continue
        for other in _nearest(value, [one for one in values.get(key, ()) if one != value], values.get(key, {})):
            told = f"ask for {key}: {other} in place of {value} in the pod's nodeSelector"
            yield Candidate(Rank.OTHER, told, setting(("spec", "nodeSelector"), key, other))


def _nearest(value: str, others: Sequence[str], prices: Mapping[str, float]) -> list[str]:
    """Of numbers those that are nearest, of other values the cheapest."""
    if value.isdecimal():
        numbers = [one for one in others if one.isdecimal()]
        return sorted(numbers, key=lambda one: (abs(int(one) - int(value)), int(one)))[:_FEW]
    return sorted(others, key=lambda one: (prices[one], one))[:_FEW]


def _values(looked_at: Sequence[Looked]) -> dict[str, dict[str, float]]:
    """Key → the values with which the pod would get in, but for that key alone, with the cheapest price; 0 where no size counts."""
    found: dict[str, dict[str, float]] = {}
    for entry in looked_at:
        if not isinstance(entry, PoolTried):
            continue
        cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
        for conflict in cause.keys if isinstance(cause, Conflicts) else ():
            if not conflict.existing.complement:
                found.setdefault(conflict.key, {}).update(dict.fromkeys(conflict.existing.values, 0.0))
        for verdict in entry.types():
            key = _only_key(verdict)
            if key is None or key not in verdict.instance_type.requirements:
                continue
            price = min((one.offering.price for one in verdict.offerings if one.available), default=None)
            requirement = verdict.instance_type.requirements[key]
            if price is None or requirement.complement:
                continue
            for value in requirement.values - _NOTHING:
                known = found.setdefault(key, {})
                known[value] = min(price, known.get(value, price))
    return found


def _only_key(verdict: TypeVerdict) -> str | None:
    """The key that alone keeps a size away; None where anything else does."""
    reason = verdict.reasons[0] if len(verdict.reasons) == 1 else None
    if not isinstance(reason, PodExcludes | NodePoolExcludes) or len(reason.conflicts.keys) != 1:
        return None
    return reason.conflicts.keys[0].key
