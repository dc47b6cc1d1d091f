"""The validation of a command, 15 seconds after it was found.

Core ``pkg/controllers/disruption/validation.go``.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.karpenter.disruption.budgets import disruption_budgets, within
from harness.karpenter.disruption.candidates import Candidate, condition_of, find_candidates
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.simulating import SimulationError, simulate
from harness.karpenter.disruption.situation import Situation, TurnGenerator, TurnWait
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after

__all__ = ["DELAY", "Invalid", "validated", "validated_all_empty", "validated_empty"]

DELAY = 15.0
"""Seconds between a command and its validation."""

Filter = Callable[[Situation, Candidate], bool]


class Invalid(Exception):
    """The command is no longer valid.

    ``reason``: ``churn`` (a node is no candidate any more), ``budget``, ``scheduling`` (a new simulation differs) or ``unknown``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def validated_empty(
    situation: Situation, command: Command, should_disrupt: Filter, reason: str, kind: str
) -> TurnGenerator[Command]:
    """The command with those of its nodes that are still empty and within the budgets. Raises Invalid."""
    yield from situation.catch_up()
    yield TurnWait(DELAY)
    current = _present(situation, command.candidates, should_disrupt)
    failed = situation.tally.failed_validations
    if not current:
        failed[kind] += len(command.candidates)
        raise Invalid("churn")
    free = [candidate for candidate in current if not situation.view.is_nominated(candidate.state)]
    within_budgets = within(disruption_budgets(situation, reason), free)
    if len(within_budgets) < len(current):
        failed[kind] += len(current) - len(within_budgets)
    if not within_budgets:
        raise Invalid("budget")
    return replace(command, candidates=tuple(within_budgets))


def validated_all_empty(
    situation: Situation, command: Command, should_disrupt: Filter, reason: str, kind: str
) -> TurnGenerator[Command]:
    """The command, when all its nodes are still candidates and empty. Raises Invalid."""
    yield from situation.catch_up()
    yield TurnWait(DELAY)
    if any(candidate.pods for candidate in _still_candidates(situation, command.candidates, should_disrupt, reason)):
        raise Invalid("churn")
    return command


def validated(
    situation: Situation, command: Command, should_disrupt: Filter, reason: str, kind: str
) -> TurnGenerator[Command]:
    """The command, when all its nodes are still candidates and a new simulation comes to the same.

    Raises Invalid, and SimulationError where there can be no simulation.
    """
    yield from situation.catch_up()
    yield TurnWait(DELAY)
    try:
        current = _still_candidates(situation, command.candidates, should_disrupt, reason)
        _still_fits(situation, command, current)
        _still_candidates(situation, current, should_disrupt, reason)
    except Invalid as error:
        if error.reason in ("churn", "budget"):
            situation.tally.failed_validations[kind] += len(command.candidates)
        raise
    return command


def _present(situation: Situation, candidates: Sequence[Candidate], should_disrupt: Filter) -> list[Candidate]:
    names = {candidate.name for candidate in candidates}
    if not situation.rules.validates_by_method:
        should_disrupt = _is_consolidatable
    return [
        candidate for candidate in find_candidates(situation, should_disrupt, eventual=False) if candidate.name in names
    ]


def _is_consolidatable(_: Situation, candidate: Candidate) -> bool:
    return consolidate_after(candidate.nodepool) is not None and condition_of(candidate, "Consolidatable")


def _still_candidates(
    situation: Situation, candidates: Sequence[Candidate], should_disrupt: Filter, reason: str
) -> list[Candidate]:
    current = _present(situation, candidates, should_disrupt)
    if len(current) != len(candidates):
        raise Invalid("churn")
    allowed = within(disruption_budgets(situation, reason), current)
    if len(allowed) < len(current) or any(situation.view.is_nominated(candidate.state) for candidate in current):
        raise Invalid("budget")
    return current


def _still_fits(situation: Situation, command: Command, candidates: Sequence[Candidate]) -> None:
    if not candidates:
        raise Invalid("unknown")
    outcome = simulate(situation, candidates, settled=True)
    if outcome is None:
        raise SimulationError("simluating scheduling, candidate is deleting")
    if outcome.stranded or len(outcome.nodeclaims) > 1 or len(outcome.nodeclaims) != len(command.replacements):
        raise Invalid("scheduling")
    if outcome.nodeclaims:
        # prices are not looked at again, so that dearer types may be among the new ones
        (planned,), (expected,) = outcome.nodeclaims, command.replacements
        names = {planned.index.types[position].name for position in planned.ordered}
        if not {expected.index.types[position].name for position in expected.ordered} <= names:
            raise Invalid("scheduling")
