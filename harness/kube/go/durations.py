"""Go durations: ``1h30m`` to nanoseconds and back.

Source: Go time.ParseDuration, time.Duration.String. Karpenter's `Never` is no duration: whoever reads a field that knows the word
looks for it first.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LIMIT = 1 << 63
_MOST_DIGITS = len(str(_LIMIT))
_NUMBER = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?")
_UNIT = re.compile(r"[^0-9.]*")


class DurationError(ValueError):
    """A text that is no duration; the message is Go's."""


def quoted(text: str) -> str:
    """The time package's own quoting: bytes outside printable ASCII as ``\\xNN``."""
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogatepass")) + '"'


def _escaped(byte: int) -> str:
    if byte >= 0x80 or byte < 0x20:
        return f"\\x{byte:02x}"
    return f"\\{chr(byte)}" if byte in (0x22, 0x5C) else chr(byte)


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> int:
    """Return nanoseconds. Raises DurationError."""
    rest = text
    negative = rest.startswith("-")
    if rest[:1] in ("-", "+"):
        rest = rest[1:]
    if rest == "0":
        return 0
    invalid = DurationError(f"time: invalid duration {quoted(text)}")
    if not rest:
        raise invalid
    total = 0
    while rest:
        number = _NUMBER.match(rest)
        if number is None or not (number[1] or number[3]):
            raise invalid
        digits = number[1].lstrip("0")
        whole = int(digits or 0) if len(digits) <= _MOST_DIGITS else _LIMIT + 1
        if whole > _LIMIT:
            raise invalid
        rest = rest[number.end() :]
        unit = _UNIT.match(rest)
        name = unit[0] if unit is not None else ""
        if not name:
            raise DurationError(f"time: missing unit in duration {quoted(text)}")
        if name not in _UNITS:
            raise DurationError(f"time: unknown unit {quoted(name)} in duration {quoted(text)}")
        rest = rest[len(name) :]
        scale = _UNITS[name]
        total += whole * scale + _fraction(number[3] or "", scale)
        if total > _LIMIT:
            raise invalid
    if total == _LIMIT and not negative:
        raise invalid
    return -total if negative else total


def _fraction(digits: str, scale: int) -> int:
    """Return the value of the digits behind the point: Go reads those that fit into 63 bits, and multiplies in binary fractions."""
    value, power = 0, 1.0
    for digit in digits:
        if value * 10 + int(digit) > _LIMIT:
            break
        value, power = value * 10 + int(digit), power * 10
    return int(value * (scale / power)) if value else 0


def print_duration(nanoseconds: int) -> str:
    """The text that Go prints: ``1h30m0s``, ``1.5s``, ``0s``."""
    if nanoseconds == 0:
        return "0s"
    sign = "-" if nanoseconds < 0 else ""
    value = abs(nanoseconds)
    if value < 1_000_000_000:
        for unit, scale in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
            if value < scale * 1000:
                return f"{sign}{_decimal(value, scale)}{unit}"
    minutes, seconds = divmod(value, 60_000_000_000)
    text = f"{_decimal(seconds, 1_000_000_000)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{minutes}m{text}"
        if hours:
            text = f"{hours}h{text}"
    return f"{sign}{text}"


def _decimal(value: int, scale: int) -> str:
    whole, fraction = divmod(value, scale)
    if not fraction:
        return str(whole)
    return f"{whole}.{str(fraction).zfill(len(str(scale)) - 1).rstrip('0')}"
