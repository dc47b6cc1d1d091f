"""Disruption budgets that never let a node go: closed for ever, or with a schedule that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from harness.engine.clock import EPOCH
from harness.explain.lint.findings import Finding, finding
from harness.kube.api.objects import Object, spec_of
from harness.kube.go.cron import Schedule, ScheduleError
from harness.kube.go.durations import DurationError, parse_duration
from harness.wording import did_you_mean

__all__ = ["budget_findings"]

_BUDGETS = ("spec", "disruption", "budgets")
_REASONS = ("Underutilized", "Empty", "Drifted")
"""Core pkg/apis/v1/nodepool.go, DisruptionReason."""
_NONE = ("0", "0%")  # a percentage is rounded up, so any other lets one node go
_WINDOWS = 1000  # openings that are looked at
_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def budget_findings(pool: Object) -> Iterator[Finding]:
    """Schedules that robfig/cron does not read, with which a NodePool is never disrupted, and reasons for which no budget ever opens."""
    budgets = (spec_of(pool).get("disruption") or {}).get("budgets") or ()
    closed: dict[str, int] = {}
    for number, budget in enumerate(budgets):
        schedule = budget.get("schedule")
        try:
            always = schedule is None or _covers_all_time(str(schedule), str(budget.get("duration") or "0s"))
        except (ScheduleError, DurationError) as error:
            # core pkg/apis/v1/nodepool.go, GetAllowedDisruptionsByReason: with one unreadable budget, none of the NodePool's lets go
            text = f"{error}{_hint(str(schedule))}: with a budget that cannot be read Karpenter disrupts no node of the NodePool"
            yield finding("budget-schedule", pool, (*_BUDGETS, number, "schedule"), f"schedule {schedule}: {text}")
            continue
        if always and str(budget.get("nodes")) in _NONE:
            for reason in budget.get("reasons") or _REASONS:
                closed.setdefault(str(reason), number)
    for number in dict.fromkeys(closed.values()):
        reasons = [reason for reason, of in closed.items() if of == number]
        why = "without a schedule" if budgets[number].get("schedule") is None else "in windows that follow one another"
        text = f"nodes {budgets[number].get('nodes')} {why}: no node is ever disrupted for {' or '.join(reasons)}"
        yield finding("budget-never", pool, (*_BUDGETS, number, "nodes"), text)


def _covers_all_time(schedule: str, duration: str) -> bool:
    """Return whether one window opens before the last has closed. Raises ScheduleError, DurationError."""
    lasting, parsed = timedelta(microseconds=parse_duration(duration) // 1000), Schedule.parse(schedule)
    last = parsed.next_after(EPOCH)
    for _ in range(_WINDOWS):
        following = parsed.next_after(last) if last is not None else None
        if last is None or following is None:
            return last is None  # a schedule without a moment counts as always open, as upstream
        if following - last > lasting:
            return False
        last = following
    return True


def _hint(schedule: str) -> str:
    """The names of days and months that misspelt ones were meant for."""
    words: Mapping[str, Any] = dict.fromkeys(
        word for part in schedule.split() for word in part.replace(",", "-").split("-") if word.isalpha()
    )
    hints = [f"{word}: {hint}" for word in words if (hint := _name_hint(word.lower()))]
    return f" ({'; '.join(hints)})" if hints else ""


def _name_hint(word: str) -> str:
    names = (*_NAMES, *_MONTHS)
    return did_you_mean(word, names, limit=0) if word not in names else ""
