"""The methods of a release, in the order in which the controller tries them.

Core ``pkg/controllers/disruption/controller.go`` (NewMethods, disrupt).
"""

from collections.abc import Mapping, Sequence

from harness.karpenter.disruption.budgets import disruption_budgets
from harness.karpenter.disruption.candidates import Candidate, find_candidates
from harness.karpenter.disruption.methods.balanced import Totals, nodepool_totals
from harness.karpenter.disruption.methods.drift import Drift
from harness.karpenter.disruption.methods.emptiness import Emptiness
from harness.karpenter.disruption.methods.method import Findings, Method, Proposal
from harness.karpenter.disruption.methods.multi_node import MultiNodeConsolidation
from harness.karpenter.disruption.methods.single_node import SingleNodeConsolidation
from harness.karpenter.disruption.methods.static_drift import StaticDrift
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.releases.disruption import DisruptionRules

__all__ = ["Attempt", "Memory", "attempt", "methods_of"]


class Memory:
    """The memory of methods from one turn to the next; this base class keeps nothing."""

    def rests(self, method: Method) -> bool:
        """Return whether the method can be skipped (IsConsolidated)."""
        return False

    def found(self, method: Method, findings: Findings) -> None:
        """Note the result of a method."""


_NO_MEMORY = Memory()


def methods_of(rules: DisruptionRules) -> Sequence[Method]:
    """Emptiness, drift of static NodePools where the release has them, drift (up to core 1.4 before emptiness), multi-node and
    single-node consolidation."""
    static: Sequence[Method] = (StaticDrift(),) if rules.static_nodepools else ()
    first = (Drift(), Emptiness()) if rules.drift_first else (Emptiness(), *static, Drift())
    return (*first, MultiNodeConsolidation(), SingleNodeConsolidation())


class Attempt:
    """One method's turn: its candidates, what budgets allowed before it spent any, and what it found.

    ``at`` is when it looked (nanoseconds since the start). ``budgets`` and ``findings`` are None when there was no candidate.
    """

    def __init__(self, method: Method, candidates: Sequence[Candidate], at: int) -> None:
        self.method, self.candidates, self.at = method, tuple(candidates), at
        self.totals: Mapping[str, Totals] = {}
        self.budgets: dict[str, int] | None = None
        self.findings: Findings | None = None


def attempt(
    situation: Situation,
    method: Method,
    *,
    unseen: frozenset[str] = frozenset(),
    validates: bool = True,
    memory: Memory = _NO_MEMORY,
) -> TurnGenerator[Attempt]:
    """Run one method."""
    candidates = find_candidates(situation, method.should_disrupt, eventual=method.eventual)
    made = Attempt(method, candidates, situation.view.now)
    situation.tally.eligible[method.reason.lower()] = len(candidates)
    if not candidates:
        return made
    if method.scores and situation.rules.balanced:
        made.totals = nodepool_totals(situation)
    budgets = disruption_budgets(situation, method.reason)
    made.budgets = dict(budgets)
    if memory.rests(method):
        made.findings = Findings()
        return made
    proposal = Proposal(candidates, budgets, made.totals, unseen, validates)
    made.findings = yield from method.compute(situation, proposal)
    memory.found(method, made.findings)
    yield from situation.catch_up()
    return made
