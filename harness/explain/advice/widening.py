"""Wider wishes of a pod: one more value for a required affinity term, a nearer bound, another amount for a selector; not yet tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.candidates import Candidate, Looked, Rank, expression_text, required_terms
from harness.explain.advice.edits import setting
from harness.karpenter.requirements import Conflicts
from harness.karpenter.scheduling.reasons.ledger import PoolTried
from harness.karpenter.scheduling.reasons.pods import RequirementsIncompatible
from harness.karpenter.scheduling.reasons.verdicts import NodePoolExcludes, PodExcludes, TypeVerdict
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
        key, operator, present = expression["key"], expression["operator"], list(expression.get("values") or ())
        others = [candidate for candidate in values.get(key, ()) if candidate not in present]
        if key == OS or not present:
            continue
        if operator == "In":
            for other in _nearest(present[0], others, values.get(key, {})):
                wording = f"also allow {other} for {key} in the pod's required node affinity"
                yield Candidate(Rank.ALLOW, wording, setting((*path, index), "values", [*present, other]))
        elif operator in _BOUNDS and present[0].isdecimal():
            for other in _nearest(present[0], others, values.get(key, {}))[:1]:
                bound = str(int(other) + _BOUNDS[operator])
                wording = f"ask for {key} {operator} {bound} in place of {expression_text(expression)} in the pod's required node affinity"
                yield Candidate(Rank.ALLOW, wording, setting((*path, index), "values", [bound]))
    for key, value in (spec_of(pod).get("nodeSelector") or {}).items():
        if key in _ELSEWHERE or not str(value).isdecimal():
            continue
        for other in _nearest(
            value, [candidate for candidate in values.get(key, ()) if candidate != value], values.get(key, {})
        ):
            wording = f"ask for {key}: {other} in place of {value} in the pod's nodeSelector"
            yield Candidate(Rank.OTHER, wording, setting(("spec", "nodeSelector"), key, other))


def _nearest(value: str, others: Sequence[str], prices: Mapping[str, float]) -> list[str]:
    """Return the nearest numbers, or the cheapest of other values."""
    if value.isdecimal():
        numbers = [candidate for candidate in others if candidate.isdecimal()]
        return sorted(numbers, key=lambda number: (abs(int(number) - int(value)), int(number)))[:_FEW]
    return sorted(others, key=lambda candidate: (prices[candidate], candidate))[:_FEW]


def _values(looked_at: Sequence[Looked]) -> dict[str, dict[str, float]]:
    """Key → the values with which the pod would get in, but for that key alone, with the cheapest price; 0 where no size counts."""
    values: dict[str, dict[str, float]] = {}
    for entry in looked_at:
        if not isinstance(entry, PoolTried):
            continue
        cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
        for conflict in cause.keys if isinstance(cause, Conflicts) else ():
            if not conflict.existing.complement:
                values.setdefault(conflict.key, {}).update(dict.fromkeys(conflict.existing.values, 0.0))
        for verdict in entry.types():
            key = _only_key(verdict)
            if key is None or key not in verdict.instance_type.requirements:
                continue
            price = min((offering.offering.price for offering in verdict.offerings if offering.available), default=None)
            requirement = verdict.instance_type.requirements[key]
            if price is None or requirement.complement:
                continue
            for value in requirement.values - _NOTHING:
                prices = values.setdefault(key, {})
                prices[value] = min(price, prices.get(value, price))
    return values


def _only_key(verdict: TypeVerdict) -> str | None:
    """The key that alone keeps a size away; None where anything else does."""
    reason = verdict.reasons[0] if len(verdict.reasons) == 1 else None
    if not isinstance(reason, PodExcludes | NodePoolExcludes) or len(reason.conflicts.keys) != 1:
        return None
    return reason.conflicts.keys[0].key
