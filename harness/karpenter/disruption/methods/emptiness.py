"""Nodes without pods that would have to move: deleted together, without a simulation.

Core ``pkg/controllers/disruption/emptiness.go``.
"""

from harness.karpenter.disruption.budgets import within
from harness.karpenter.disruption.candidates import Candidate, condition_of
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.commands.validation import Invalid, validated_all_empty, validated_empty
from harness.karpenter.disruption.events.texts import unconsolidatable
from harness.karpenter.disruption.methods.consolidation import sort_candidates
from harness.karpenter.disruption.methods.method import EMPTY, Findings, Method, Proposal
from harness.karpenter.disruption.simulating import Outcome
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after
from harness.kube.go.text import quote

__all__ = ["Emptiness"]


class Emptiness(Method):
    """Deletes empty nodes, under every ``consolidationPolicy``."""

    name = "Emptiness"
    reason = EMPTY
    kind = "empty"
    eventual = False
    scores = True

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the node is empty and may be consolidated."""
        rules = situation.rules
        if candidate.is_static and rules.static_nodepools:
            return False
        if consolidate_after(candidate.nodepool) is None:
            text = f"NodePool {quote(candidate.pool)} has consolidation disabled"
            situation.say_all(unconsolidatable(candidate.state, text))
            return False
        return candidate.is_empty(rules.empty_by_cost) and condition_of(candidate, "Consolidatable")

    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """One command about as many empty nodes as the budgets allow."""
        candidates, rules = proposal.candidates, situation.rules
        sort_candidates(situation, candidates)
        findings = Findings(order=tuple(candidates), consolidated=False)
        taken = within(proposal.budgets, candidates)
        if not taken:
            findings.consolidated = not candidates
            return findings
        command = Command.of(taken, Outcome())
        if proposal.validates:
            try:
                empty = validated_empty if rules.keeps_empty else validated_all_empty
                command = yield from empty(situation, command, self.should_disrupt, self.reason, self.kind)
            except Invalid:
                findings.withdrawn = True
                return findings
        findings.commands.append(command)
        return findings
