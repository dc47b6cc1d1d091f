"""Go durations as Karpenter's API writes them (`720h`, `1h30m`, `Never`)."""

from __future__ import annotations

import re

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")


def parse_duration(text: str) -> float:
    """A Go duration in seconds. Raises ValueError with Go's sentence."""
    body = text.lstrip("+-")
    if body == "0":
        return 0.0
    total, end = 0.0, 0
    for match in _PART.finditer(body):
        if match.start() != end:
            break
        total += float(match[1]) * _UNITS[match[2]]
        end = match.end()
    if not body or end != len(body):
        raise ValueError(f'time: invalid duration "{text}"')
    return -total if text.startswith("-") else total
