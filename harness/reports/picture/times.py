"""Virtual seconds as people read them."""

from __future__ import annotations

__all__ = ["duration"]

_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def duration(seconds: float) -> str:
    """The two largest units, as the pages write them (`picture/src/text.js`): `45s`, `3m20s`, `23h`, `1d4h`."""
    left = round(seconds)
    parts = []
    for unit, length in _UNITS:
        parts.append((left // length, unit))
        left %= length
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts))
    return "".join(f"{count}{unit}" for count, unit in parts[first : first + 2] if count) or "0s"
