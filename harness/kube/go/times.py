"""Times as Go's time.Parse reads them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

__all__ = ["parse_rfc3339"]

_LAYOUT = "2006-01-02T15:04:05Z07:00"
_ELEMENTS = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d{2}"),
    ("-", "-"),
    ("02", r"\d{2}"),
    ("T", "T"),
    ("15", r"\d{2}"),
    (":", ":"),
    ("04", r"\d{2}"),
    (":", ":"),
    ("05", r"\d{2}(?:[.,]\d+)?"),
    ("Z07:00", r"Z|[+-]\d{2}:\d{2}"),
)
_LIMITS = (("month", 12), ("day", 31), ("hour", 23), ("minute", 59), ("second", 59))


@lru_cache(maxsize=1024)
def parse_rfc3339(text: str) -> datetime:
    """The moment that a text in Go's layout time.RFC3339 names. Raises ValueError in Go's words (time/format.go)."""
    parts: list[str] = []
    rest = text
    for element, pattern in _ELEMENTS:
        found = re.match(pattern, rest, re.ASCII)
        if found is None:
            raise ValueError(f'parsing time "{text}" as "{_LAYOUT}": cannot parse "{rest}" as "{element}"')
        parts.append(found.group())
        rest = rest[found.end() :]
    if rest:
        raise ValueError(f'parsing time "{text}": extra text: "{rest}"')
    year, month, day, hour, minute = (int(parts[index]) for index in (0, 2, 4, 6, 8))
    seconds = float(parts[10].replace(",", "."))
    for (name, most), value in zip(_LIMITS, (month, day, hour, minute, int(seconds)), strict=True):
        if value > most or (value < 1 and name in ("month", "day")):
            raise ValueError(f'parsing time "{text}": {name} out of range')
    try:
        moment = datetime(year, month, day, hour, minute, tzinfo=UTC) + timedelta(seconds=seconds)
    except ValueError:
        raise ValueError(f'parsing time "{text}": day out of range') from None
    zone = parts[11]
    if zone == "Z":
        return moment
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
    return moment - offset if zone[0] == "+" else moment + offset
