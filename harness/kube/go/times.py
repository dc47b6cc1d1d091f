"""Times as Go's time.Parse reads them (time/format.go)."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from harness.kube.go.durations import quoted

__all__ = ["parse_rfc3339", "seconds_between"]

_LAYOUT = "2006-01-02T15:04:05Z07:00"
_ELEMENTS = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d{2}"),
    ("-", "-"),
    ("02", r"\d{2}"),
    ("T", "T"),
    ("15", r"\d{1,2}"),
    (":", ":"),
    ("04", r"\d{2}"),
    (":", ":"),
    ("05", r"\d{2}"),
)
_LIMITS = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}
_FRACTION = re.compile(r"[.,](\d+)", re.ASCII)
_ZONE = re.compile(r"Z|([+-])(\d{2}):(\d{2})", re.ASCII)


@lru_cache(maxsize=1024)
def parse_rfc3339(text: str) -> datetime:
    """Return the moment that a text in Go's layout time.RFC3339 names. Raises ValueError in Go's words.

    Microseconds are counted, and Python's years: a time before or after them is the first moment or the last.
    """

    def wrong(problem: str) -> ValueError:
        return ValueError(f"parsing time {quoted(text)}{problem}")

    def unreadable(element: str) -> ValueError:
        return wrong(f' as "{_LAYOUT}": cannot parse {quoted(rest)} as "{element}"')

    numbers: list[int] = []
    rest = text
    for element, pattern in _ELEMENTS:
        match_ = re.match(pattern, rest, re.ASCII)
        if match_ is None:
            raise unreadable(element)
        rest = rest[match_.end() :]
        if not match_.group().isdigit():
            continue
        numbers.append(int(match_.group()))
        name, least, most = _LIMITS.get(element, ("", 0, numbers[-1]))
        if not least <= numbers[-1] <= most:
            raise wrong(f": {name} out of range")
    year, month, day, hour, minute, second = numbers
    microseconds = 0
    if (fraction := _FRACTION.match(rest)) is not None:
        microseconds = int(fraction[1][:6].ljust(6, "0"))
        rest = rest[fraction.end() :]
    zone = _ZONE.match(rest)
    if zone is None:
        raise unreadable("Z07:00")
    hours, minutes = int(zone[2] or 0), int(zone[3] or 0)
    # Go takes 24 hours and 60 minutes, too, and names the minute where both are too large
    for name, value, most in (("minute", minutes, 60), ("hour", hours, 24)):
        if value > most:
            raise wrong(f": time zone offset {name} out of range")
    rest = rest[zone.end() :]
    if rest:
        raise wrong(f": extra text: {quoted(rest)}")
    if not 1 <= day <= monthrange(year, month)[1]:
        raise wrong(": day out of range")
    offset = timedelta(hours=hours, minutes=minutes)
    try:
        moment = datetime(year, month, day, hour, minute, second, microseconds, UTC)
        return moment + offset if zone[1] == "-" else moment - offset
    except (ValueError, OverflowError):
        return (datetime.min if year < 2 else datetime.max).replace(tzinfo=UTC)


def seconds_between(earlier: str, later: str) -> float:
    """The seconds from one moment to another, both as the API server writes them. Raises ValueError for texts that are no times."""
    return (parse_rfc3339(later) - parse_rfc3339(earlier)).total_seconds()
