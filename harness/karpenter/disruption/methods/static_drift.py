"""Drifted nodes of static NodePools (with ``spec.replicas``): each is replaced by a new one.

Core ``pkg/controllers/disruption/staticdrift.go``, ``pkg/controllers/state/statenodepool.go``.
"""

from collections.abc import Iterator, Sequence

from harness.karpenter.cloudprovider import RESERVED
from harness.karpenter.disruption.candidates import Candidate, condition_of
from harness.karpenter.disruption.commands.command import STATIC_AT_LIMIT, Command
from harness.karpenter.disruption.events.texts import blocked
from harness.karpenter.disruption.methods.method import DRIFTED, Findings, Method, Proposal
from harness.karpenter.disruption.simulating import Outcome
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.nodeclaims.planned import PlannedNodeClaim
from harness.karpenter.scheduling.simulation import Simulations
from harness.kube.api.objects import Object, condition, is_terminating, labels_of, name_of, spec_of
from harness.kube.api.quantity import NANO, Quantity
from lazyrecords import dataclass

__all__ = ["Counts", "StaticDrift", "counts_of", "node_limit"]

UNREPLACEABLE = "static NodePool is at its node limit and cannot stage a replacement"
UNRESERVED = "static NodePool's capacity reservations are full and cannot stage a replacement"
_NO_LIMIT = (1 << 63) - 1


class StaticDrift(Method):
    """Replaces drifted nodes of NodePools with ``replicas``."""

    name = "StaticDrift"
    reason = DRIFTED
    kind = ""
    eventual = True
    scores = False

    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the node has drifted."""
        return candidate.is_static and condition_of(candidate, DRIFTED)

    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """Return as many commands as budgets and ``limits.nodes`` allow; none while the NodePool has more nodes than ``replicas``."""
        yield from ()  # it never waits
        findings = Findings(order=tuple(proposal.candidates))
        by_pool: dict[str, list[Candidate]] = {}
        for candidate in proposal.candidates:
            by_pool.setdefault(candidate.pool, []).append(candidate)
        for pool in sorted(by_pool):
            candidates = by_pool[pool]
            nodepool, counts = candidates[0].nodepool, counts_of(situation.view.simulations, pool)
            steady = counts.running + counts.replacing <= int(spec_of(nodepool).get("replicas") or 0)
            wanted = min(proposal.budgets[pool], len(candidates)) if steady else 0
            if wanted and situation.terminates_first and not _is_offered(situation, nodepool):
                for candidate in candidates[:wanted]:
                    situation.say_all(blocked(candidate.state, UNRESERVED))
                continue
            left = max(0, node_limit(nodepool) - counts.total)
            if not left and situation.rules.tells_unreplaceable:
                findings.commands += _unreplaceable(situation, nodepool, candidates[:wanted])
            for candidate in candidates[: min(wanted, left)]:
                planned = planned_static(situation, candidate)
                findings.commands.append(Command.of((candidate,), Outcome((planned,)), (planned,)))
        return findings


def _unreplaceable(situation: Situation, nodepool: Object, candidates: Sequence[Candidate]) -> Iterator[Command]:
    """Let nodes go without a replacement where the NodePool will get new ones (unreplaceableCommands), else say why they stay."""
    refills = (condition(nodepool, "Ready") or {}).get("status") == "True" and not is_terminating(nodepool)
    for candidate in candidates:
        if situation.terminates_first and refills:
            yield Command.of((candidate,), Outcome(), terminate_first=STATIC_AT_LIMIT)
        else:
            situation.say_all(blocked(candidate.state, UNREPLACEABLE))


def _is_offered(situation: Situation, nodepool: Object) -> bool:
    """Return whether some offering suits the NodePool, available or not (core ``pkg/controllers/disruption/helpers.go``
    staticReservations).

    Core takes a NodePool without any for one whose capacity reservations are full. Every key of an instance type has to
    be known for that, and the provider's ``sku-hyperv-generation`` is not: types that have it never suit. Reserved
    offerings are not sold to Karpenter in Azure.
    """
    well_known = situation.view.release.vocabulary.well_known
    wanted = situation.view.simulations.static_nodeclaim(nodepool).requirements
    return any(
        offering.capacity_type != RESERVED
        for instance_type in situation.view.instance_types.get(name_of(nodepool)) or ()
        if wanted.compatible(instance_type.requirements, well_known) is None
        for offering in instance_type.compatible_offerings(wanted)
    )


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a NodePool's NodeClaims: that run, that are being deleted, and that a command is about to replace."""

    running: int = 0
    deleting: int = 0
    replacing: int = 0

    @property
    def total(self) -> int:
        return self.running + self.deleting + self.replacing


def counts_of(simulations: Simulations, pool: str, replacing: frozenset[str] = frozenset()) -> Counts:
    """Count the NodeClaims of a NodePool by state; ``replacing`` names those that a command is about to replace."""
    states = {name_of(node.nodeclaim): node for node in simulations.state.nodes if node.nodeclaim is not None}
    running = deleting = going = 0
    for claim in simulations.snapshot.nodeclaims:
        if labels_of(claim).get(NODEPOOL) == pool:
            node = states.get(name_of(claim))
            if name_of(claim) in replacing:
                going += 1
            elif node is not None and node.deleting:
                deleting += 1
            else:
                running += 1
    return Counts(running, deleting, going)


def node_limit(nodepool: Object) -> int:
    """The ``limits.nodes`` of a NodePool, rounded up; a very large number without one."""
    limit = (spec_of(nodepool).get("limits") or {}).get("nodes")
    return -(-Quantity.parse(str(limit)).nano // NANO) if limit is not None else _NO_LIMIT


def planned_static(situation: Situation, candidate: Candidate) -> PlannedNodeClaim:
    """The replacement of a static NodePool's NodeClaim."""
    return situation.view.simulations.static_nodeclaim(candidate.nodepool)
