"""Commands: which nodes go, what comes in their place, and what that saves.

Core ``pkg/controllers/disruption/types.go`` (Command), ``pkg/controllers/provisioning/scheduling/nodeclaim.go``
(RemoveInstanceTypeOptionsByPriceAndMinValues).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from harness.karpenter.cloudprovider import Offering
from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.costs import is_unpriced, lowest_price
from harness.karpenter.disruption.simulating import Outcome
from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, SPOT
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.reasons.instance_types import MinValuesUnmet
from lazyrecords import dataclass

__all__ = [
    "DELETE",
    "REPLACE",
    "STATIC_AT_LIMIT",
    "TERMINATE_FIRST",
    "Command",
    "UnpricedError",
    "cheaper",
    "source_price",
]

DELETE, REPLACE, TERMINATE_FIRST = "delete", "replace", "terminate-first"

STATIC_AT_LIMIT = "static-at-limit"
"""The reason why a node goes before there is a replacement: its static NodePool has as many nodes as its limit allows.
"""


class UnpricedError(Exception):
    """No price is known of a candidate; the message is core's."""


@dataclass(frozen=True, slots=True)
class Command:
    """``candidates`` are deleted once ``replacements`` are initialized.

    ``pool_costs``: by NodePool, the cost of moving its candidates' pods (no unit). ``terminate_first``: why no replacement comes before,
    if one would be needed.
    """

    candidates: tuple[Candidate, ...]
    replacements: tuple[PlannedNodeClaim, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    pool_costs: Mapping[str, float] = field(default_factory=dict)
    terminate_first: str = ""

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        outcome: Outcome,
        replacements: Sequence[PlannedNodeClaim] = (),
        terminate_first: str = "",
    ) -> "Command":
        """A command, with its costs by NodePool added up."""
        costs: dict[str, float] = {}
        for candidate in candidates:
            costs[candidate.pool] = costs.get(candidate.pool, 0.0) + candidate.moving_cost
        return cls(tuple(candidates), tuple(replacements), outcome, costs, terminate_first)

    @property
    def decision(self) -> str:
        """``delete``, ``replace`` or ``terminate-first``."""
        if self.replacements:
            return REPLACE
        return TERMINATE_FIRST if self.terminate_first else DELETE

    def __str__(self) -> str:
        names = ", ".join(candidate.name for candidate in self.candidates)
        if not self.replacements:
            return f"{self.decision}: [{names}]"
        plural = "replacement" if len(self.replacements) == 1 else "replacements"
        return f"{self.decision}: [{names}] -> [{len(self.replacements)} {plural}]"

    def about(self, candidate: Candidate) -> str:
        """The command as an event about one of its nodes names it."""
        if len(self.candidates) == 1:
            return str(self)
        return f"{self.decision}: [{candidate.name}] (part of {len(self.candidates)}-node consolidation)"

    def savings(self, rules: DisruptionRules, vocabulary: Vocabulary) -> float:
        """USD per hour: the candidates' prices less the cheapest offering of each replacement's first instance type.

        Raises UnpricedError.
        """
        price = source_price(self.candidates, rules, vocabulary)
        if not self.replacements:
            return price
        cost = 0.0
        for _, offering in self._bought(rules):
            cost += offering.price
        return price - cost

    def _bought(self, rules: DisruptionRules) -> Iterator[tuple[str, Offering]]:
        """For each replacement the instance type and the offering that :meth:`savings` assumes."""
        for planned in self.replacements:
            if planned.ordered:
                first = planned.index.types[planned.ordered[0]]
                offerings = first.available_offerings if rules.saves_available else first.offerings
                if rules.saves_compatible:
                    offerings = tuple(
                        offering for offering in first.compatible_offerings(planned.requirements) if offering.available
                    )
                if offerings:
                    yield first.name, min(offerings, key=lambda item: item.price)

    def unpriced(self, rules: DisruptionRules) -> dict[str, float]:
        """The sizes without a known price, each with the USD per hour that :meth:`savings` uses instead."""
        gone = {
            candidate.size: candidate.price
            for candidate in self.candidates
            if is_unpriced(candidate.state.labels, candidate.instance_type)
        }
        return {**gone, **{size: offering.price for size, offering in self._bought(rules) if offering.unpriced}}


def source_price(candidates: Sequence[Candidate], rules: DisruptionRules, vocabulary: Vocabulary) -> float:
    """USD per hour of the candidates together. Raises UnpricedError."""
    total = 0.0
    for candidate in candidates:
        if rules.priced_by_labels:
            total += candidate.price
            continue
        if candidate.instance_type is None:
            return 0.0
        price = lowest_price(candidate.state, candidate.instance_type, vocabulary)
        if price is None:
            if rules.unpriced_fails:
                which = rules.unpriced_text.format(
                    size=candidate.instance_type.name, capacity_type=candidate.capacity_type, zone=candidate.zone
                )
                raise UnpricedError(f"getting offering price from candidate node, unable to determine offering {which}")
            return 0.0
        total += price
    return total


def cheaper(planned: PlannedNodeClaim, price: float) -> PlannedNodeClaim | MinValuesUnmet:
    """The NodeClaim with the instance types that cost less than `price` whatever is launched of them, if ``minValues`` allow that."""
    prices = planned.index.launch_prices(planned.accepted)
    narrowed = planned.narrowed([position for position in planned.ordered if prices[position] < price])
    return narrowed.unmet_min_values() or narrowed


def allows(planned: PlannedNodeClaim, capacity_type: str) -> bool:
    """Return whether the NodeClaim may be launched as this capacity type."""
    requirement = planned.requirement_set.items.get(CAPACITY_TYPE)
    return requirement is None or requirement.has(capacity_type)


def allows_both(planned: PlannedNodeClaim) -> bool:
    """Return whether the NodeClaim may be launched as spot and on demand."""
    return allows(planned, SPOT) and allows(planned, ON_DEMAND)
