"""The policy Balanced: a command must save enough for the disruption that it causes.

Core ``pkg/controllers/disruption/balanced.go``, ``pkg/state/cost/cost.go``.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from harness.karpenter.disruption.candidates import Candidate, all_candidates
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.costs import BASE_COST, eviction_cost, offered_price
from harness.karpenter.disruption.events.texts import approved, nodepool_approved
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered_while_same
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of
from harness.kube.scheduling.pods import is_daemon
from lazyrecords import dataclass

__all__ = ["Score", "Totals", "announce_pools", "approves", "can_pass", "nodepool_costs", "nodepool_totals"]

BALANCED = "Balanced"
_K = 2


@dataclass(frozen=True, slots=True)
class Totals:
    """The price of a NodePool's nodes in USD per hour, and the cost (without unit) of disrupting all of them."""

    cost: float
    disruption_cost: float


@dataclass(frozen=True, slots=True)
class Score:
    """The fraction of a NodePool's cost that a command saves, and the fraction of its disruption cost that the command causes."""

    savings: float = 0.0
    disruption: float = 0.0

    @property
    def value(self) -> float:
        if self.savings <= 0:
            return 0.0
        return math.inf if self.disruption == 0 else self.savings / self.disruption

    @property
    def passes(self) -> bool:
        return self.value >= 1 / _K

    def shown(self) -> tuple[float, float, int, float, float]:
        """Return the score as events show it: score, threshold, k, savings and disruption in percent."""
        return self.value, 1 / _K, _K, self.savings * 100, self.disruption * 100


class _TotalsByPool(Mapping[str, Totals]):
    """Totals by NodePool, added up at the first look, since only Balanced NodePools need them."""

    def __init__(self, view: View, candidates: Sequence[Candidate], rules: DisruptionRules) -> None:
        self._given = view, candidates, rules

    @cached_property
    def _found(self) -> dict[str, Totals]:
        return _totals(*self._given)

    def __getitem__(self, pool: str) -> Totals:
        return self._found[pool]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def nodepool_totals(situation: Situation) -> Mapping[str, Totals]:
    """For the NodePools that have a candidate: the cost of all their NodeClaims, the disruption cost of all their nodes."""
    view, totals = situation.totals
    if view is not situation.view:
        totals = _TotalsByPool(situation.view, all_candidates(situation, eventual=False), situation.rules)
        situation.totals = situation.view, totals
    return totals


def _totals(view: View, candidates: Sequence[Candidate], rules: DisruptionRules) -> dict[str, Totals]:
    by_name = {candidate.name: candidate for candidate in candidates}
    prices: dict[str, float] = {}
    for member in candidates:
        prices[member.pool] = prices.get(member.pool, 0.0) + member.price
    disruption: dict[str, float] = {}
    for node in view.nodes:
        pool = node.labels.get(NODEPOOL)
        if pool is not None:
            known_candidate = by_name.get(node.name)
            cost = known_candidate.moving_cost if known_candidate is not None else _disruption_cost(node, rules)
            disruption[pool] = disruption.get(pool, 0.0) + cost
    costs = nodepool_costs(view)
    return {pool: Totals(costs.get(pool) or price, disruption[pool]) for pool, price in prices.items()}


@remembered_while_same
def _disruption_cost(node: StateNode, rules: DisruptionRules) -> float:
    cost = BASE_COST
    for pod in sorted(node.pods, key=_key):
        if not is_daemon(pod) and (value := eviction_cost(pod, rules)) > 0:
            cost += value
    return cost


def _key(pod: Object) -> str:
    return f"{namespace_of(pod)}/{name_of(pod)}"


def nodepool_costs(view: View) -> dict[str, float]:
    """By NodePool, the USD per hour of its NodeClaims, as core adds them up (``pkg/state/cost``)."""
    costs: dict[str, float] = {}
    for claim in view.snapshot.nodeclaims:
        get = labels_of(claim).get
        name, pool, zone, kind = offer = get(INSTANCE_TYPE), get(NODEPOOL), get(ZONE), get(CAPACITY_TYPE)
        if pool not in view.nodepools or name is None or zone is None or kind is None:
            continue
        if offer not in view.prices:
            view.prices[offer] = offered_price(view.types_by_name.get(pool, {}).get(name), zone, kind)
        costs[pool] = costs.get(pool, 0.0) + view.prices[offer]
    return costs


def _is_balanced(candidate: Candidate) -> bool:
    return candidate.policy == BALANCED


def _score(savings: float, disruption: float, totals: Totals | None) -> Score:
    if totals is None or totals.cost <= 0 or totals.disruption_cost <= 0:
        return Score()
    return Score(savings / totals.cost, disruption / totals.disruption_cost)


def can_pass(candidate: Candidate, totals: Mapping[str, Totals]) -> bool:
    """Return whether the policy would approve at least the node's deletion without a replacement."""
    if not _is_balanced(candidate) or (pool_totals := totals.get(candidate.pool)) is None or pool_totals.cost <= 0:
        return True
    return _score(candidate.price, candidate.moving_cost, pool_totals).passes


def approves(situation: Situation, command: Command, totals: Mapping[str, Totals]) -> tuple[bool, dict[str, Score]]:
    """Return whether every Balanced NodePool of a command approves it, and their scores. Publishes the approval of a
    command about one node.
    """
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in command.candidates:
        by_pool.setdefault(candidate.pool, []).append(candidate)
    savings = command.savings(situation.rules, situation.view.release.vocabulary)
    total = _price(command.candidates)
    scores: dict[str, Score] = {}
    for pool, candidates in by_pool.items():
        if not _is_balanced(candidates[0]):
            continue
        part = savings
        if total > 0 and len(by_pool) > 1:
            part = savings * (_price(candidates) / total)
        scores[pool] = _score(part, command.pool_costs[pool], totals.get(pool))
    if len(command.candidates) == 1:
        (only,) = command.candidates
        score = scores.get(only.pool)
        _count(situation, only, score is None or score.passes, score)
        if score is not None and score.passes:
            situation.say_all(approved(only.state, *score.shown()))
    return all(score.passes for score in scores.values()), scores


def _price(candidates: Sequence[Candidate]) -> float:
    total = 0.0
    for candidate in candidates:
        total += candidate.price
    return total


def _count(situation: Situation, candidate: Candidate, taken: bool, score: Score | None) -> None:
    value, passes = (score.value, score.passes) if score is not None else (None, taken)
    situation.tally.moved(taken, candidate.pool, candidate.policy, value, passes)


def announce_pools(situation: Situation, command: Command, scores: Mapping[str, Score], *, taken: bool) -> None:
    """Publishes an event for each NodePool that approves a command about several nodes, and counts the decisions of all."""
    for candidate in {candidate.pool: candidate for candidate in command.candidates}.values():
        score = scores.get(candidate.pool)
        _count(situation, candidate, taken, score)
        if score is not None and score.passes:
            situation.say(nodepool_approved(candidate.pool, *score.shown()))
