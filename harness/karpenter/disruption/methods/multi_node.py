"""Several nodes at once: as many of the first candidates as can go together, found by halving.

Core ``pkg/controllers/disruption/multinodeconsolidation.go``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import DELETE, Command, UnpricedError, cheaper
from harness.karpenter.disruption.commands.validation import Invalid, validated
from harness.karpenter.disruption.costs import lowest_price
from harness.karpenter.disruption.methods.balanced import Score, announce_pools, approves
from harness.karpenter.disruption.methods.consolidation import consolidate, should_consolidate, sort_candidates
from harness.karpenter.disruption.methods.method import UNDERUTILIZED, Findings, Method, Proposal
from harness.karpenter.disruption.simulating import OutOfTime, SimulationError
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.scheduling.reasons.instance_types import MinValuesUnmet

__all__ = ["LIMIT", "MultiNodeConsolidation"]

LIMIT = 60.0
"""Timeout of the search, in seconds of virtual time."""

_MOST = 100
_UNLIMITED = float("inf")


class MultiNodeConsolidation(Method):
    """Commands about two nodes or more."""

    name = "MultiNodeConsolidation"
    reason = UNDERUTILIZED
    kind = "multi"
    eventual = False
    scores = True

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the node may be consolidated."""
        return should_consolidate(situation, candidate)

    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """One command at most."""
        budgets, rules = proposal.budgets, situation.rules
        sort_candidates(situation, proposal.candidates)
        findings = Findings(order=tuple(proposal.candidates), consolidated=False)
        within: list[Candidate] = []
        constrained, left = False, sum(budgets.values())
        for candidate in proposal.candidates:
            if budgets[candidate.pool] == 0:
                constrained = True
                if left == 0:
                    break  # nor is there anything left for those after it
                continue
            if not rules.empty_by_cost and candidate.is_empty(by_cost=False):
                continue
            within.append(candidate)
            budgets[candidate.pool] -= 1
            left -= 1
        try:
            command, scores = _largest(situation, proposal, within, findings)
        except (SimulationError, UnpricedError) as error:
            findings.error = error
            return findings
        if command is None:
            findings.consolidated = not constrained
            return findings
        if rules.balanced:
            announce_pools(situation, command, scores, taken=True)
        if proposal.validates:
            try:
                command = yield from validated(situation, command, self.should_disrupt, self.reason, self.kind)
            except Invalid:
                findings.withdrawn = True
                return findings  # upstream publishes nothing: by then it has lost the command
            except SimulationError as error:
                findings.error = SimulationError(f"validating consolidation, {error}")
                return findings
        findings.commands.append(command)
        return findings


def _largest(
    situation: Situation, proposal: Proposal, candidates: Sequence[Candidate], findings: Findings
) -> tuple[Command | None, Mapping[str, Score]]:
    """The last command that a binary search over prefixes of the candidates finds, which need not be the largest possible.

    After its timeout, the last command so far; the timeout is noted in ``findings``.
    """
    saved: Command | None = None
    saved_scores: dict[str, Score] = {}
    rejected: tuple[Command, dict[str, Score]] | None = None
    if len(candidates) < 2:
        return None, {}
    low, end = 1, situation.seconds + LIMIT
    high = len(candidates) - 1 if len(candidates) <= _MOST else _MOST
    while low <= high:
        middle = (low + high) // 2
        prefix = candidates[: middle + 1]
        try:
            command = consolidate(situation, prefix, time_limit=end - situation.seconds)
        except OutOfTime:
            findings.timeout = _timeout(situation, saved, middle)
            return saved, saved_scores
        command = _sensible(situation, command, prefix)
        if command is not None and situation.rules.balanced:
            taken, scores = approves(situation, command, proposal.totals)
            if taken:
                saved_scores = scores or saved_scores
            else:
                rejected = command, scores
                command = None
        if command is not None:
            saved, low = command, middle + 1
        else:
            high = middle - 1
    if saved is None and rejected is not None:
        announce_pools(situation, *rejected, taken=False)  # for the NodePools that approve what another one rejects
    if saved is None:
        return None, {}
    return saved, saved_scores


def _timeout(situation: Situation, saved: Command | None, middle: int) -> tuple[str, Mapping[str, int]]:
    if saved is not None:
        return "stopping multi-node consolidation after timeout, returning last valid command", {}
    return situation.rules.multi_timeout_text.format(middle), {"last_batch_size": middle}


def _sensible(situation: Situation, command: Command | None, candidates: Sequence[Candidate]) -> Command | None:
    """The command without replacements that cost as much as a candidate of the same instance type (filterOutSameInstanceType)."""
    if command is None or command.decision == DELETE:
        return command
    (replacement,) = command.replacements
    vocabulary = situation.view.release.vocabulary
    prices = _prices_by_type(candidates, vocabulary)
    names = [replacement.index.types[position].name for position in replacement.ordered]
    most = min((prices[name] for name in names if name in prices), default=_UNLIMITED)
    cheaper_one = cheaper(replacement, most)
    if isinstance(cheaper_one, MinValuesUnmet) or not cheaper_one.mask:
        return None
    return replace(command, replacements=(cheaper_one,), outcome=replace(command.outcome, nodeclaims=(cheaper_one,)))


def _prices_by_type(candidates: Sequence[Candidate], vocabulary: Vocabulary) -> dict[str, float]:
    """By instance type, the USD per hour of the cheapest candidate; 0 where no price is known."""
    prices: dict[str, float] = {}
    for candidate in candidates:
        assert candidate.instance_type is not None
        name = candidate.instance_type.name
        price = lowest_price(candidate.state, candidate.instance_type, vocabulary)
        if price is not None:
            prices[name] = min(prices.get(name, _UNLIMITED), price)
    return {
        candidate.instance_type.name: prices.get(candidate.instance_type.name, 0.0)
        for candidate in candidates
        if candidate.instance_type
    }
