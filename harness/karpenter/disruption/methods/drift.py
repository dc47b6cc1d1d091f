"""Drifted nodes, one at a time: deleted once their pods have a place, whatever the replacement costs.

Core ``pkg/controllers/disruption/drift.go``.
"""

from harness.engine.clock import parse
from harness.karpenter.disruption.budgets import within
from harness.karpenter.disruption.candidates import Candidate, condition_of
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.events.texts import blocked
from harness.karpenter.disruption.methods.method import DRIFTED, Findings, Method, Proposal
from harness.karpenter.disruption.methods.sorting import sort_lasting
from harness.karpenter.disruption.simulating import Outcome, SimulationError, simulate
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered
from harness.kube.api.objects import condition

__all__ = ["Drift"]


class Drift(Method):
    """Replaces drifted nodes of NodePools without ``replicas``."""

    name = "Drift"
    reason = DRIFTED
    kind = ""
    eventual = True
    scores = False

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the node has drifted."""
        static = candidate.is_static and situation.rules.static_nodepools
        return not static and condition_of(candidate, DRIFTED)

    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """One command at most: the node whose pods all find a place, empty nodes first, then by the time of drift."""
        yield from ()  # it never waits
        sort_lasting(situation, proposal.candidates, _drifted_at)
        empty = [candidate for candidate in proposal.candidates if not candidate.pods]
        ordered = [*empty, *(candidate for candidate in proposal.candidates if candidate.pods)]
        findings = Findings(order=tuple(ordered))
        if situation.rules.drift_first and (gathered := within(proposal.budgets, empty)):
            findings.commands.append(Command.of(gathered, Outcome()))
            return findings
        taken = ordered if situation.rules.drift_takes_empty else ordered[len(empty) :]
        for candidate in taken:
            if proposal.budgets[candidate.pool] == 0:
                continue
            try:
                outcome = simulate(situation, (candidate,), settled=False)
            except SimulationError as error:
                findings.error = error
                return findings
            if outcome is None:
                continue
            if outcome.stranded:
                situation.say_all(blocked(candidate.state, outcome.text))
                continue
            findings.commands.append(Command.of((candidate,), outcome, outcome.nodeclaims))
            return findings
        return findings


def _drifted_at(candidate: Candidate) -> int:
    return _drift_began(candidate.state)


@remembered
def _drift_began(node: StateNode) -> int:
    drifted = condition(node.nodeclaim or {}, DRIFTED) or {}
    return parse(drifted["lastTransitionTime"])
