"""`--real-limit`: the longest virtual time of a case that is run in real time as well."""

from __future__ import annotations

from harness.kube.api.objects import Object, spec_of

__all__ = ["REAL_LIMIT", "has_schedule", "limit_of"]

REAL_LIMIT = 60.0
"""The default limit: seconds of virtual time of a case that is run in real time."""


def limit_of(text: str | None) -> float:
    """Return the seconds of a duration as scenario files write them, REAL_LIMIT for None. Raises ValueError with the mistake."""
    from harness.scenario.language.models.base import parse_duration

    if text is None:
        return REAL_LIMIT
    try:
        seconds = parse_duration(text)
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise ValueError(f"--real-limit: a duration above 0 such as 5m or 1h30m is expected, not '{text}'")
    return seconds


def has_schedule(obj: Object) -> bool:
    """Return whether an object is a NodePool with a budget that has a schedule, which goes by the time of day."""
    budgets = (spec_of(obj).get("disruption") or {}).get("budgets") or () if obj.get("kind") == "NodePool" else ()
    return any(budget.get("schedule") for budget in budgets)
