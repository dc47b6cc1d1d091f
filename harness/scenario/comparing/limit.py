"""`--real-limit`: how much virtual time a case may take to be run in real time as well."""

from __future__ import annotations

__all__ = ["REAL_LIMIT", "limit_of"]

REAL_LIMIT = 60.0
"""Seconds of virtual time that a case may take to be run in real time, where nobody says more."""


def limit_of(text: str | None) -> float:
    """Return the seconds of a duration as scenario files write them, REAL_LIMIT for None. Raises ValueError with what is wrong."""
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
