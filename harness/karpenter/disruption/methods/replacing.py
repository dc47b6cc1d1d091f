"""The replacement of nodes: exactly one new node that costs less, or the reason why there is none.

Core ``pkg/controllers/disruption/consolidation.go``.
"""

from collections.abc import Sequence

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import (
    allows,
    allows_both,
    cheaper,
    source_price,
)
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.labels.core import CAPACITY_TYPE, SPOT
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.reasons.instance_types import MinValuesUnmet
from harness.karpenter.scheduling.remembered import Result

__all__ = ["replacement"]

SPOT_TO_SPOT_TYPES = 15
"""A spot node is replaced by a spot node only if so many instance types are cheaper; the launch then names so many."""


_CHEAPER = Result[PlannedNodeClaim | str]()
"""The cheaper NodeClaim, or the reason why there is none, by what of the candidates makes a difference."""


def replacement(
    situation: Situation, candidates: Sequence[Candidate], nodeclaims: Sequence[PlannedNodeClaim]
) -> PlannedNodeClaim | str:
    """Return the NodeClaim that replaces the candidates, or the reason why none does. The pods on the new nodes make no
    difference.

    Of the candidates only their price, and whether all are spot nodes, make one. Raises UnpricedError.
    """
    if len(nodeclaims) != 1:
        return f"Can't remove without creating {len(nodeclaims)} candidates"
    price = source_price(candidates, situation.rules, situation.view.release.vocabulary)
    (planned,) = nodeclaims
    about = price, _only_spot(candidates), len(candidates) > 1, situation.spot_to_spot
    cheaper_one = _CHEAPER.last(planned, *about)
    if cheaper_one is None:
        cheaper_one = _CHEAPER.keep(planned, _cheaper_one(situation, candidates, planned, price), *about)
    return cheaper_one if isinstance(cheaper_one, str) else cheaper_one.with_pods(planned.pods)


def _cheaper_one(
    situation: Situation, candidates: Sequence[Candidate], planned: PlannedNodeClaim, price: float
) -> PlannedNodeClaim | str:
    if _only_spot(candidates) and allows(planned, SPOT):
        return _spot_to_spot(situation, planned, price, several=len(candidates) > 1)
    narrowed = _cheaper(planned, price)
    if not isinstance(narrowed, str) and allows_both(narrowed):
        return _spot_only(situation, narrowed)  # else a spot launch that fails would end in a dearer node on demand
    return narrowed


def _only_spot(candidates: Sequence[Candidate]) -> bool:
    return all(candidate.capacity_type == SPOT for candidate in candidates)


def _spot_only(situation: Situation, planned: PlannedNodeClaim) -> PlannedNodeClaim:
    spot = Requirement.of(CAPACITY_TYPE, IN, (SPOT,), vocabulary=situation.view.release.vocabulary)
    return planned.narrowed(planned.ordered, spot)


def _cheaper(planned: PlannedNodeClaim, price: float) -> PlannedNodeClaim | str:
    narrowed = cheaper(planned, price)
    if isinstance(narrowed, MinValuesUnmet):
        return f"Filtering by price: {narrowed}"
    return narrowed if narrowed.mask else "Can't replace with a cheaper node"


def _spot_to_spot(
    situation: Situation, planned: PlannedNodeClaim, price: float, *, several: bool
) -> PlannedNodeClaim | str:
    if not situation.spot_to_spot:
        return "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"
    spot = _spot_only(situation, planned)
    offered = spot.index.offered(spot.requirement_set.items)[0]
    narrowed = _cheaper(spot.narrowed([position for position in spot.ordered if offered >> position & 1]), price)
    if isinstance(narrowed, str) or several:
        return narrowed
    count = len(narrowed.ordered)
    if count < SPOT_TO_SPOT_TYPES:
        return (
            f"SpotToSpotConsolidation requires {SPOT_TO_SPOT_TYPES} cheaper instance type options than the current "
            f"candidate to consolidate, got {count}"
        )
    return narrowed.narrowed(narrowed.ordered[: max(SPOT_TO_SPOT_TYPES, _needed(narrowed))])


def _needed(planned: PlannedNodeClaim) -> int:
    """Return how many instance types, in their order, meet ``minValues``; 0 without ``minValues``."""
    wanted = {
        key: requirement.min_values
        for key, requirement in planned.requirement_set.items.items()
        if requirement.min_values is not None
    }
    if not wanted:
        return 0
    values: dict[str, set[str]] = {key: set() for key in wanted}
    for count, position in enumerate(planned.ordered, 1):
        for key, distinct in values.items():
            distinct.update(planned.index.types[position].requirements.get(key).values)
        if all(len(values[key]) >= least for key, least in wanted.items()):
            return count
    return len(planned.ordered)
