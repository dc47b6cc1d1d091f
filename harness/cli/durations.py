"""`--until`: how long virtual time passes, told as Go writes durations."""

from __future__ import annotations

import math
import re

__all__ = ["SETTLED", "duration_of", "seconds_of"]

SETTLED = "settled"
_HOUR = 3600.0
_FURTHEST = 3650 * 24 * _HOUR
_HOURS = re.compile(r"[0-9]+(h|m|s)")


def duration_of(text: str) -> float | None:
    """Return seconds above 0, None for `settled`. Raises ValueError with the mistake."""
    if text == SETTLED:
        return None
    seconds = _seconds(text)
    if seconds <= 0:
        raise ValueError(f"a duration such as 72h, or {SETTLED}, is expected, not '{text}'")
    return seconds


def seconds_of(text: str) -> float:
    """Return seconds from 0. Raises ValueError with the mistake."""
    seconds = _seconds(text)
    if seconds < 0:
        raise ValueError(f"a duration such as 72h is expected, not '{text}'")
    return seconds


def _seconds(text: str) -> float:
    """Seconds; less than 0 for what is no duration. Raises ValueError for what is too far."""
    from harness.kube.go.durations import DurationError, parse_duration

    try:
        seconds = parse_duration(text) / 1e9
    except DurationError:
        # Go's durations end at 292 years
        seconds = math.inf if _HOURS.fullmatch(text) else -1.0
    if seconds > _FURTHEST:
        raise ValueError(f"{text} is too long: virtual time goes {_FURTHEST / _HOUR:.0f}h (ten years) ahead at most")
    return seconds
