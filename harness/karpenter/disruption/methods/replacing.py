"""What may replace nodes, or why nothing does: exactly one new node that costs less.

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

__all__ = ["replacement"]

SPOT_TO_SPOT_TYPES = 15
"""A spot node is replaced by a spot node only if so many instance types are cheaper; the launch then names so many."""


def replacement(
    situation: Situation, candidates: Sequence[Candidate], nodeclaims: Sequence[PlannedNodeClaim]
) -> PlannedNodeClaim | str:
    """What of these new nodes may replace the candidates, or why nothing does. The pods on the new nodes make no difference.

    Of the candidates only their price, and whether all are spot nodes, make one. Raises UnpricedError.
    """
    if len(nodeclaims) != 1:
        return f"Can't remove without creating {len(nodeclaims)} candidates"
    price = source_price(candidates, situation.rules, situation.view.release.vocabulary)
    (planned,) = nodeclaims
    about = replacement, price, _only_spot(candidates), len(candidates) > 1, situation.spot_to_spot
    known: PlannedNodeClaim | str | None = planned.remembered.get(about)
    if known is None:
        known = planned.remembered[about] = _cheaper_one(situation, candidates, planned, price)
    return known if isinstance(known, str) else known.with_pods(planned.pods)


def _cheaper_one(
    situation: Situation, candidates: Sequence[Candidate], planned: PlannedNodeClaim, price: float
) -> PlannedNodeClaim | str:
    if _only_spot(candidates) and allows(planned, SPOT):
        return _spot_to_spot(situation, planned, price, several=len(candidates) > 1)
    found = _cheaper(planned, price)
    if not isinstance(found, str) and allows_both(found):
        return _spot_only(situation, found)  # else a spot launch that fails would end in a dearer node on demand
    return found


def _only_spot(candidates: Sequence[Candidate]) -> bool:
    return all(each.capacity_type == SPOT for each in candidates)


def _spot_only(situation: Situation, planned: PlannedNodeClaim) -> PlannedNodeClaim:
    spot = Requirement.of(CAPACITY_TYPE, IN, (SPOT,), vocabulary=situation.view.release.vocabulary)
    return planned.narrowed(planned.ordered, spot)


def _cheaper(planned: PlannedNodeClaim, price: float) -> PlannedNodeClaim | str:
    found = cheaper(planned, price)
    if isinstance(found, MinValuesUnmet):
        return f"Filtering by price: {found}"
    return found if found.mask else "Can't replace with a cheaper node"


def _spot_to_spot(
    situation: Situation, planned: PlannedNodeClaim, price: float, *, several: bool
) -> PlannedNodeClaim | str:
    if not situation.spot_to_spot:
        return "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"
    spot = _spot_only(situation, planned)
    offered = spot.index.offered(spot.requirement_set.items)[0]
    found = _cheaper(spot.narrowed([each for each in spot.ordered if offered >> each & 1]), price)
    if isinstance(found, str) or several:
        return found
    count = len(found.ordered)
    if count < SPOT_TO_SPOT_TYPES:
        return (
            f"SpotToSpotConsolidation requires {SPOT_TO_SPOT_TYPES} cheaper instance type options than the current "
            f"candidate to consolidate, got {count}"
        )
    return found.narrowed(found.ordered[: max(SPOT_TO_SPOT_TYPES, _needed(found))])


def _needed(planned: PlannedNodeClaim) -> int:
    """How many instance types, in their order, meet ``minValues``; 0 when nothing asks for that."""
    wanted = {
        key: requirement.min_values
        for key, requirement in planned.requirement_set.items.items()
        if requirement.min_values is not None
    }
    if not wanted:
        return 0
    values: dict[str, set[str]] = {key: set() for key in wanted}
    for count, position in enumerate(planned.ordered, 1):
        for key, found in values.items():
            found.update(planned.index.types[position].requirements.get(key).values)
        if all(len(values[key]) >= least for key, least in wanted.items()):
            return count
    return len(planned.ordered)
