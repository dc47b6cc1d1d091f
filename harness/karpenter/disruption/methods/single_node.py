"""One node after the other, the NodePools in turn: the first that can be consolidated is.

Core ``pkg/controllers/disruption/singlenodeconsolidation.go``.
"""

from collections.abc import Iterable
from itertools import zip_longest

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import Command, UnpricedError
from harness.karpenter.disruption.commands.validation import Invalid, validated
from harness.karpenter.disruption.methods.balanced import approves, can_pass
from harness.karpenter.disruption.methods.consolidation import (
    announce_rejected,
    consolidate,
    should_consolidate,
    sort_candidates,
)
from harness.karpenter.disruption.methods.method import UNDERUTILIZED, Findings, Method, Proposal
from harness.karpenter.disruption.simulating import SimulationError
from harness.karpenter.disruption.situation import Situation, TurnGenerator

__all__ = ["LIMIT", "SingleNodeConsolidation"]

LIMIT = 180.0
"""Seconds of virtual time after which no further candidate is tried."""


class SingleNodeConsolidation(Method):
    """Commands about one node."""

    name = "SingleNodeConsolidation"
    reason = UNDERUTILIZED
    kind = "single"
    eventual = False
    scores = True

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the node may be consolidated."""
        return should_consolidate(situation, candidate)

    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """One command at most."""
        sort_candidates(situation, proposal.candidates)
        pools = {node.pool for node in proposal.candidates}
        ordered = _interleaved(proposal.candidates, proposal.unseen) if len(pools) > 1 else proposal.candidates
        findings = Findings(order=tuple(ordered), consolidated=False, prioritized=proposal.unseen)
        begun = situation.seconds
        for number, candidate in enumerate(ordered):
            if situation.seconds - begun > LIMIT:
                findings.timeout = situation.rules.single_timeout_text.format(number), {"candidates_evaluated": number}
                findings.unseen = frozenset(pools.difference(node.pool for node in ordered[:number]))
                return findings
            if _passes_over(situation, proposal, candidate):
                continue
            command = self._command(situation, proposal, candidate)
            if command is None:
                continue
            if proposal.validates:
                try:
                    yield from validated(situation, command, self.should_disrupt, self.reason, self.kind)
                except Invalid as error:
                    announce_rejected(situation, command, error.reason)
                    findings.withdrawn = True
                    return findings  # the turn ends, although the next candidate might be consolidated
                except SimulationError as error:
                    findings.error = SimulationError(f"validating consolidation, {error}")
                    return findings
            findings.commands.append(command)
            return findings
        findings.consolidated = all(proposal.budgets[pool] for pool in pools)
        findings.unseen = frozenset()
        return findings

    @staticmethod
    def _command(situation: Situation, proposal: Proposal, candidate: Candidate) -> Command | None:
        try:
            command = consolidate(situation, (candidate,))
        except (SimulationError, UnpricedError):
            return None  # logged only
        if command is None or (situation.rules.balanced and not approves(situation, command, proposal.totals)[0]):
            return None
        return command


def _passes_over(situation: Situation, proposal: Proposal, candidate: Candidate) -> bool:
    """Return whether a command about such a candidate is not asked for."""
    rules = situation.rules
    return (
        proposal.budgets[candidate.pool] == 0
        or (not rules.empty_by_cost and candidate.is_empty(by_cost=False))
        or (rules.balanced and not can_pass(candidate, proposal.totals))
    )


def _interleaved(candidates: Iterable[Candidate], unseen: frozenset[str]) -> list[Candidate]:
    """The first candidate of each NodePool, the second of each, and so on; NodePools of ``unseen`` before the others."""
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_pool.setdefault(candidate.pool, []).append(candidate)
    pools = [*sorted(unseen), *sorted(by_pool.keys() - unseen)]
    turns = zip_longest(*(by_pool.get(pool, ()) for pool in pools))
    return [candidate for turn in turns for candidate in turn if candidate is not None]
