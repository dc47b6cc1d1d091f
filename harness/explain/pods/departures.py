"""The reason why a node is not removed: the obstacles, in Karpenter's words and in its order, and the command without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.engine.clock import SECOND, render
from harness.karpenter.disruption.budgets import disruption_budgets
from harness.karpenter.disruption.candidates import (
    Candidate,
    candidate_of,
    condition_of,
    node_refusals,
    pod_refusals,
)
from harness.karpenter.disruption.commands.command import Command, UnpricedError
from harness.karpenter.disruption.conditions import CONSOLIDATABLE, DRIFTED
from harness.karpenter.disruption.costs import is_unpriced
from harness.karpenter.disruption.events.texts import sentence
from harness.karpenter.disruption.methods.consolidation import consolidate, should_consolidate
from harness.karpenter.disruption.methods.static_drift import counts_of, node_limit, planned_static
from harness.karpenter.disruption.simulating import Outcome, SimulationError, simulate
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after, settles_in
from harness.karpenter.scheduling.nodes.state import StateNode, pods_on
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import condition, name_of, spec_of
from harness.kube.go.durations import print_duration
from harness.kube.go.text import quote
from harness.wording import duration_text

__all__ = ["Departure", "departure_of"]


@dataclass(frozen=True, slots=True)
class Departure:
    """The answer about one node. ``blocked`` is empty when it can go: then ``command`` says how, ``savings`` what that saves per hour
    in Karpenter's figures; ``unpriced`` are sizes without a known price, each with the figure that stands for it.

    ``others`` are its reasons to go that do not hold.
    """

    node: str
    facts: Mapping[str, Any]
    blocked: tuple[str, ...] = ()
    reason: str = ""
    command: str = ""
    sizes: tuple[str, ...] = ()
    savings: float = 0.0
    unpriced: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = field(default=())


def departure_of(view: View, name: str) -> Departure | None:
    """Return the reason why the node of this name stays, or how it goes; None without such a node."""
    node = next(
        (node_there for node_there in view.nodes if name in (node_there.name, name_of(node_there.node or {}))), None
    )
    if node is None:
        return None
    situation = Situation(view)
    facts = {
        "nodepool": node.labels.get(NODEPOOL, ""),
        "size": node.labels.get(INSTANCE_TYPE, ""),
        "zone": node.labels.get(ZONE, ""),
        "capacity_type": node.labels.get(CAPACITY_TYPE, ""),
        "pods": len(node.pods),
        "at": render(view.now),
    }
    refusals = tuple(_refusals(situation, node))
    pool = node.labels.get(NODEPOOL)
    if node.nodeclaim is None or node.node is None or pool not in view.nodepools or pool not in view.types_by_name:
        return Departure(node.name, facts, refusals)
    candidate = candidate_of(situation, node)
    facts["price"] = candidate.price
    if is_unpriced(candidate.state.labels, candidate.instance_type):
        facts |= {"price": None, "reckoned": candidate.price}
    result = _methods(situation, candidate)
    if refusals or result.command is None:
        return Departure(node.name, facts, (*refusals, *result.blocked), others=result.others)
    first = result.command.replacements[0] if result.command.replacements else None
    return Departure(
        node.name,
        facts,
        reason=result.reason,
        command=str(result.command),
        sizes=tuple(first.index.types[position].name for position in first.ordered) if first is not None else (),
        savings=result.command.savings(situation.rules, view.release.vocabulary),
        unpriced=result.command.unpriced(situation.rules),
        others=result.others,
    )


def _refusals(situation: Situation, node: StateNode) -> Iterator[str]:
    view = situation.view
    yield from (sentence(text) for text in node_refusals(situation, node))
    if node.nodeclaim is None or node.node is None:
        return
    pool = node.labels.get(NODEPOOL)
    if pool is not None and (pool not in view.nodepools or pool not in view.types_by_name):
        yield f"NodePool not found (NodePool={pool})"
    judge = view.simulations.pod_judge()
    pods = pod_refusals(situation, pods_on(node), judge)
    yield from dict.fromkeys(sentence(text) for text in pods)


@dataclass(slots=True)
class _Found:
    blocked: list[str]
    others: tuple[str, ...] = ()
    reason: str = ""
    command: Command | None = None


def _methods(situation: Situation, candidate: Candidate) -> _Found:
    """Return the results of emptiness, drift and consolidation for this node alone."""
    result = _Found([])
    static = candidate.is_static and situation.rules.static_nodepools
    others = [_kept_up(candidate)] if static else []
    for reason, look in _STATIC if static else _DYNAMIC:
        holds, text, command = look(situation, candidate)
        if not holds:
            others.append(text)
            continue
        if disruption_budgets(situation, reason)[candidate.pool] == 0:
            result.blocked.append(_budget_text(reason))
        elif command is None:
            result.blocked.append(text)
        elif result.command is None:
            result.command, result.reason = command, reason
    if not result.blocked and result.command is None:
        result.blocked += others
    else:
        result.others = tuple(others)
    return result


def _budget_text(reason: str) -> str:
    return f"No allowed disruptions for disruption reason {reason} due to blocking budget"


def _empty(situation: Situation, candidate: Candidate) -> tuple[bool, str, Command | None]:
    if not candidate.is_empty(situation.rules.empty_by_cost):
        count = len(candidate.pods)
        return False, f"it is not empty: {count} {'pod has' if count == 1 else 'pods have'} to move", None
    waits = _waits(situation, candidate)
    return (False, waits, None) if waits else (True, "", Command.of((candidate,), Outcome()))


def _drifted(situation: Situation, candidate: Candidate) -> tuple[bool, str, Command | None]:
    if not condition_of(candidate, DRIFTED):
        return False, "it has not drifted", None
    try:
        outcome = simulate(situation, (candidate,), settled=False)
    except SimulationError as error:
        return True, str(error), None
    if outcome is None or outcome.stranded:
        return True, outcome.text() if outcome is not None else "", None
    return True, "", Command.of((candidate,), outcome, outcome.nodeclaims)


def _kept_up(candidate: Candidate) -> str:
    return f"NodePool {quote(candidate.pool)} keeps up a number of nodes ({_replicas(candidate)}), which are never consolidated"


def _replicas(candidate: Candidate) -> str:
    count = spec_of(candidate.nodepool).get("replicas")
    return f"{count} replica" if count == 1 else f"{count} replicas"


def _replaced(situation: Situation, candidate: Candidate) -> tuple[bool, str, Command | None]:
    """Drift of a NodePool that keeps up a number of nodes: its replacement is made whatever becomes of the pods."""
    if not condition_of(candidate, DRIFTED):
        return False, "it has not drifted", None
    counts = counts_of(situation.view.simulations, candidate.pool)
    pool, limit = quote(candidate.pool), node_limit(candidate.nodepool)
    if counts.running > int(spec_of(candidate.nodepool).get("replicas") or 0):
        return (
            True,
            f"NodePool {pool} has {counts.running} NodeClaims for {_replicas(candidate)}, and none is replaced until the surplus is gone",
            None,
        )
    if counts.total >= limit:
        return (
            True,
            f"NodePool {pool} has {counts.total} NodeClaims, and its limit of {limit} nodes leaves no room for a replacement",
            None,
        )
    planned = planned_static(situation, candidate)
    return True, "", Command.of((candidate,), Outcome((planned,)), (planned,))


def _underutilized(situation: Situation, candidate: Candidate) -> tuple[bool, str, Command | None]:
    if candidate.is_empty(situation.rules.empty_by_cost):
        return False, "it is not underutilized but empty", None
    before = len(situation.events)
    if not should_consolidate(situation, candidate):
        messages = [event.message for event in situation.events[before:]]
        return bool(messages), messages[0] if messages else _waits(situation, candidate), None
    try:
        command = consolidate(situation, (candidate,))
    except (SimulationError, UnpricedError) as error:
        return True, str(error), None
    messages = [event.message for event in situation.events[before:] if event.object == name_of(candidate.node)]
    return True, messages[-1] if messages and command is None else "", command


_DYNAMIC = (("Empty", _empty), ("Drifted", _drifted), ("Underutilized", _underutilized))
_STATIC = (("Drifted", _replaced),)


def _waits(situation: Situation, candidate: Candidate) -> str:
    """Return the reason why consolidation does not look at the node yet, "" when it does."""
    after = consolidate_after(candidate.nodepool)
    if after is None:
        return f"NodePool {quote(candidate.pool)} has consolidation disabled"
    left = settles_in(candidate.nodepool, candidate.nodeclaim, situation.view.now)
    if left:
        return f"it is not Consolidatable yet: consolidateAfter {print_duration(after)} is over in {duration_text(left / SECOND)}"
    if not condition_of(candidate, CONSOLIDATABLE):
        initialized = condition(candidate.nodeclaim, "Initialized")
        state = "" if initialized is None or initialized.get("status") == "True" else ", it is not initialized"
        return f"its NodeClaim is not Consolidatable{state}"
    return ""
