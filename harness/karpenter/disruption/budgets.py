"""The number of nodes of each NodePool that may be disrupted now, for a reason.

Core ``pkg/apis/v1/nodepool.go`` (Budget), ``pkg/controllers/disruption/helpers.go`` (BuildDisruptionBudgetMapping).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.events.texts import nodepool_blocked
from harness.karpenter.disruption.schedules import is_within
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object, condition_is, name_of, spec_of
from harness.kube.go.cron import ScheduleError
from harness.kube.go.durations import DurationError, parse_duration
from lazyrecords import dataclass

__all__ = [
    "UNLIMITED",
    "BudgetError",
    "Remaining",
    "allowed_disruptions",
    "disruption_budgets",
    "remaining_budgets",
    "unreadable",
    "within",
]

UNLIMITED = (1 << 31) - 1
_INTEGER = re.compile(r"[+-]?\d+")


class BudgetError(ValueError):
    """A budget that cannot be parsed; it allows no disruption. The message is core's."""


def disruption_budgets(situation: Situation, reason: str) -> dict[str, int]:
    """By NodePool, how many more nodes its budgets let go for a reason. Nodes that are not ready or are being deleted use them up."""
    remaining = {}
    for name, budget in remaining_budgets(situation.view, reason).items():
        situation.tally.allowed[name, reason] = budget.allowed
        situation.tally.consuming[name, reason] = budget.consuming
        remaining[name] = budget.left
        if budget.nodes and budget.allowed == 0:
            situation.say(nodepool_blocked(name, reason))
    return remaining


@dataclass(frozen=True, slots=True)
class Remaining:
    """The number of a NodePool's ``nodes`` that may be disrupted at once, and the number that are disrupted already."""

    nodes: int
    allowed: int
    consuming: int

    @property
    def left(self) -> int:
        return max(self.allowed - self.consuming, 0)


def remaining_budgets(view: View, reason: str) -> dict[str, Remaining]:
    """Return by NodePool what its budgets allow for a reason; none where they cannot be read."""
    total: dict[str, int] = {}
    disrupting: dict[str, int] = {}
    for counting, count in view.simulations.state.fleet.counts(_counting).items():
        if counting is not None:
            pool, going = counting
            total[pool] = total.get(pool, 0) + count
            disrupting[pool] = disrupting.get(pool, 0) + count * going
    budgets = {}
    for name, pool_object in view.nodepools.items():
        try:
            allowed = allowed_disruptions(pool_object, total.get(name, 0), reason, view.now)
        except BudgetError:
            allowed = 0
        budgets[name] = Remaining(total.get(name, 0), allowed, disrupting.get(name, 0))
    return budgets


def within(budgets: dict[str, int], candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the budgets of their NodePools allow, first come, first served; they spend them."""
    taken = []
    for candidate in candidates:
        if budgets[candidate.pool] > 0:
            budgets[candidate.pool] -= 1
            taken.append(candidate)
    return taken


def _counting(node: StateNode) -> tuple[str, bool] | None:
    """The NodePool for which a node counts, and whether it uses up its budgets; None where it does not count."""
    if node.nodeclaim is None or not node.initialized or condition_is(node.nodeclaim, "InstanceTerminating"):
        return None
    return node.labels.get(NODEPOOL) or "", node.deleting or not condition_is(node.node or {}, "Ready")


def unreadable(nodepools: Iterable[Object], now: int) -> str:
    """Return the errors in the budgets of all NodePools, in core's words; empty when there is none."""
    problems = []
    for nodepool in nodepools:
        try:
            allowed_disruptions(nodepool, 100, "", now)
        except BudgetError as error:
            problems.append(f"invalid disruption budgets in nodepool {name_of(nodepool)}, {error}")
    return "".join(problems)


def allowed_disruptions(nodepool: Object, nodes: int, reason: str, now: int) -> int:
    """Return how many of a NodePool's nodes may be disrupted at once for a reason: the smallest of its active budgets,
    UNLIMITED without one.

    `nodes` is the number that percentages are of, `now` in nanoseconds since the start. Raises BudgetError when a budget cannot be parsed.
    """
    allowed, problems = UNLIMITED, []
    for budget in (spec_of(nodepool).get("disruption") or {}).get("budgets") or ():
        try:
            value = _allowed(budget, nodes, now)
        except BudgetError as error:
            problems.append(str(error))
            continue
        reasons = budget.get("reasons")
        if reasons is None or reason in reasons:
            allowed = min(allowed, value)
    if problems:
        raise BudgetError("; ".join(problems))
    return allowed


def _allowed(budget: Mapping[str, Any], nodes: int, now: int) -> int:
    schedule, duration = budget.get("schedule"), budget.get("duration")
    if schedule is not None or duration is not None:
        try:
            lasting = parse_duration(duration) if duration is not None else 0
            if not is_within(schedule or "", lasting, now):
                return UNLIMITED
        except (ScheduleError, DurationError) as error:
            raise BudgetError(f"invariant violated, invalid cron, {error} (cron=<nil>)") from error
    text = str(budget.get("nodes") or "")
    if _INTEGER.fullmatch(text):
        return int(text)
    if not text.endswith("%") or not _INTEGER.fullmatch(text[:-1]):
        raise BudgetError(f"invalid value for IntOrString: {text}")
    return -(-int(text[:-1]) * nodes // 100)
