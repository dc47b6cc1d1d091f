"""Consolidation of given nodes: their pods go to other nodes, or to one new node that costs less.

Core ``pkg/controllers/disruption/consolidation.go``.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from harness.karpenter.disruption.candidates import Candidate, condition_of
from harness.karpenter.disruption.commands.command import (
    REPLACE,
    Command,
)
from harness.karpenter.disruption.events.nodes import NodeEvents, Text
from harness.karpenter.disruption.events.texts import candidate as candidate_event
from harness.karpenter.disruption.events.texts import rejected, unconsolidatable
from harness.karpenter.disruption.methods.replacing import replacement
from harness.karpenter.disruption.methods.sorting import sort_lasting
from harness.karpenter.disruption.simulating import Outcome, simulate
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered_while_same
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.go.sort import sort_slice
from harness.kube.go.text import quote

__all__ = ["announce_rejected", "consolidate", "should_consolidate", "sort_candidates"]


def should_consolidate(situation: Situation, candidate: Candidate) -> bool:
    """Return whether multi-node and single-node consolidation consider the node; publish why not."""
    eligible, event = _eligible(candidate.state, candidate, situation.rules)
    if event is not None:
        situation.say_all(event)
    return eligible


@remembered_while_same
def _eligible(node: StateNode, candidate: Candidate, rules: DisruptionRules) -> tuple[bool, NodeEvents | None]:
    """Return whether consolidation considers the node, and the event about it if not."""
    if candidate.is_static and rules.static_nodepools:
        return False, None
    labels = node.labels
    policy = candidate.policy
    reason = ""
    if candidate.instance_type is None:
        reason = f"Instance Type {quote(labels.get(INSTANCE_TYPE) or '')} not found"
    elif CAPACITY_TYPE not in labels:
        reason = f"Node does not have label {quote(CAPACITY_TYPE)}"
    elif ZONE not in labels:
        reason = f"Node does not have label {quote(ZONE)}"
    elif consolidate_after(candidate.nodepool) is None:
        reason = f"NodePool {quote(candidate.pool)} has consolidation disabled"
    elif rules.empty_by_cost and candidate.is_empty(by_cost=True):
        return False, None
    elif policy == "WhenEmpty" or (not rules.balanced and policy != "WhenEmptyOrUnderutilized"):
        reason = rules.when_empty_text.format(pool=quote(candidate.pool))
    if reason:
        return False, unconsolidatable(node, reason)
    return condition_of(candidate, "Consolidatable"), None


def sort_candidates(situation: Situation, candidates: list[Candidate]) -> None:
    """Sort candidates, in place, into the order in which consolidation tries them."""
    now = situation.view.now
    if situation.rules.by_savings:
        sort_lasting(situation, candidates, _most_savings_first)
    else:
        sort_slice(candidates, lambda candidate: candidate.disruption_cost(now))


def _most_savings_first(candidate: Candidate) -> float:
    return -candidate.savings_ratio


def consolidate(situation: Situation, candidates: Sequence[Candidate], *, time_limit: float = inf) -> Command | None:
    """The command that removes these nodes, None when there is none.

    Raises SimulationError, UnpricedError, and OutOfTime after ``time_limit`` virtual seconds.
    """
    outcome = simulate(situation, candidates, settled=True, time_limit=time_limit)
    if outcome is None or _is_stranded(situation, candidates, outcome):
        return None
    if not outcome.nodeclaims:
        return Command.of(candidates, outcome)
    replacement = _replacement(situation, candidates, outcome.nodeclaims)
    if replacement is None:
        return None
    return _announced(situation, Command.of(candidates, _with(outcome, replacement), (replacement,)))


def _is_stranded(situation: Situation, candidates: Sequence[Candidate], outcome: Outcome) -> bool:
    if outcome.stranded:
        _explain(situation, candidates, outcome.text)
    return bool(outcome.stranded)


def _replacement(
    situation: Situation, candidates: Sequence[Candidate], nodeclaims: Sequence[PlannedNodeClaim]
) -> PlannedNodeClaim | None:
    """The replacement, if there is one; else publishes why not."""
    planned = replacement(situation, candidates, nodeclaims)
    if isinstance(planned, str):
        _explain(situation, candidates, planned)
        return None
    return planned


def _with(outcome: Outcome, replacement: PlannedNodeClaim) -> Outcome:
    return replace(outcome, nodeclaims=(replacement,))


def _explain(situation: Situation, candidates: Sequence[Candidate], text: Text) -> None:
    """Publishes why a node is not consolidated, if the command is about one node."""
    if len(candidates) == 1:
        situation.say_all(unconsolidatable(candidates[0].state, text))


def _announced(situation: Situation, command: Command) -> Command:
    if situation.rules.announces and command.decision == REPLACE:
        savings = command.savings(situation.rules, situation.view.release.vocabulary)
        for candidate in command.candidates:
            situation.say_all(candidate_event(candidate.state, command.about(candidate), savings))
    return command


def announce_rejected(situation: Situation, command: Command, reason: str) -> None:
    """Publishes that the validation of a command failed, in the releases that do so."""
    if situation.rules.announces:
        savings = command.savings(situation.rules, situation.view.release.vocabulary)
        for candidate in command.candidates:
            situation.say_all(rejected(candidate.state, command.about(candidate), reason, savings))
