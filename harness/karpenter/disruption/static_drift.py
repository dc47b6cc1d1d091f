"""Drifted nodes of NodePools that keep up a number of them: each gets one in its place.

Core ``pkg/controllers/disruption/staticdrift.go``, ``pkg/controllers/state/statenodepool.go``.
"""

from harness.karpenter.disruption.candidates import Candidate, condition_of
from harness.karpenter.disruption.commands import Command
from harness.karpenter.disruption.method import DRIFTED, Findings, Method, Proposal
from harness.karpenter.disruption.simulating import Outcome
from harness.karpenter.disruption.situation import Deliberation, Situation
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.claims import PlannedNodeClaim
from harness.kube.api.objects import labels_of, name_of, spec_of
from harness.kube.api.quantity import NANO, Quantity

__all__ = ["StaticDrift"]

_NO_LIMIT = (1 << 63) - 1


class StaticDrift(Method):
    """Of NodePools with ``replicas``."""

    name = "StaticDrift"
    reason = DRIFTED
    kind = ""
    eventual = True
    scores = False

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Whether the node has drifted."""
        return candidate.is_static and condition_of(candidate, DRIFTED)

    def compute(self, situation: Situation, proposal: Proposal) -> Deliberation[Findings]:
        """As many commands as budgets and the limit of nodes allow, unless the NodePool has too many nodes."""
        yield from ()  # it never waits
        found = Findings(order=tuple(proposal.candidates))
        by_pool: dict[str, list[Candidate]] = {}
        for each in proposal.candidates:
            by_pool.setdefault(each.pool, []).append(each)
        for pool in sorted(by_pool):
            candidates = by_pool[pool]
            for each in candidates[: self._allowed(situation, proposal, pool, candidates)]:
                planned = planned_static(situation, each)
                found.commands.append(Command.of((each,), Outcome((planned,)), (planned,)))
        return found

    @staticmethod
    def _allowed(situation: Situation, proposal: Proposal, pool: str, candidates: list[Candidate]) -> int:
        spec = spec_of(candidates[0].nodepool)
        running, deleting, pending = _counts(situation, pool)
        if running + pending > int(spec.get("replicas") or 0):
            return 0
        limit = (spec.get("limits") or {}).get("nodes")
        most = -(-Quantity.parse(str(limit)).nano // NANO) if limit is not None else _NO_LIMIT
        left = most - (running + deleting + pending)
        return max(0, min(proposal.budgets[pool], len(candidates), left))


def _counts(situation: Situation, pool: str) -> tuple[int, int, int]:
    """The NodePool's NodeClaims that run, that are being deleted, and those that a command of another turn is about."""
    view = situation.view
    states = {name_of(node.nodeclaim): node for node in view.nodes if node.nodeclaim is not None}
    running = deleting = 0
    for claim in view.snapshot.nodeclaims:
        if labels_of(claim).get(NODEPOOL) == pool:
            node = states.get(name_of(claim))
            if node is not None and node.deleting:
                deleting += 1
            else:
                running += 1
    return running, deleting, 0


def planned_static(situation: Situation, candidate: Candidate) -> PlannedNodeClaim:
    """The NodeClaim that comes in the place of a static NodePool's."""
    return situation.view.simulations.static_nodeclaim(candidate.nodepool)
