"""Go's reading and printing of the scalars that end up in Kubernetes and Karpenter messages.

Only what messages and label values need: ``%q`` quoting, ``strconv.Atoi``, ``strconv.ParseFloat`` and ``%v`` of a list of strings.
"""

import math
import re
from collections.abc import Iterable

MAX_INT = (1 << 63) - 1
MIN_INT = -(1 << 63)

_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,20})[0-9]*\Z")  # 20 digits tell that there are too many
_DECIMAL = re.compile(r"[+-]?(#(\.(#)?)?|\.#)([eE][+-]?#)?".replace("#", r"[0-9](_?[0-9])*"))
_HEX = re.compile(r"[+-]?0[xX]_?(#(\.(#)?)?|\.#)[pP][+-]?[0-9](_?[0-9])*".replace("#", r"[0-9a-fA-F](_?[0-9a-fA-F])*"))
_SPECIAL = re.compile(r"nan|[+-]?inf(inity)?", re.IGNORECASE)
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def quote(text: str) -> str:
    """``%q``: a double-quoted Go string literal; unprintable characters are escaped, printable Unicode is kept."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def bracketed(values: Iterable[str]) -> str:
    """``%v`` of a ``[]string``: space separated, in square brackets."""
    return "[" + " ".join(values) + "]"


def parse_int(text: str) -> int | None:
    """The value of ``strconv.Atoi``, or None where it returns an error (not an integer, or outside 64 bits)."""
    match_ = _INTEGER.match(text)
    if match_ is None:
        return None
    value = int(match_[1] + match_[2])
    return value if MIN_INT <= value <= MAX_INT else None


def parse_float(text: str) -> float | None:
    """The value of ``strconv.ParseFloat``, or None where it returns an error (no number, or beyond a float64)."""
    if _DECIMAL.fullmatch(text) or _SPECIAL.fullmatch(text):
        value = float(text.replace("_", ""))
        return None if math.isinf(value) and "n" not in text.lower() else value
    if _HEX.fullmatch(text):
        try:
            return float.fromhex(text.replace("_", ""))
        except OverflowError:
            return None
    return None


def parse_int_lenient(text: str) -> int:
    """The value of ``strconv.Atoi`` when its error is ignored: 0 for syntax errors, the nearest 64-bit integer for range errors."""
    match_ = _INTEGER.match(text)
    return 0 if match_ is None else max(MIN_INT, min(MAX_INT, int(match_[1] + match_[2])))


def wrap_int(value: int) -> int:
    """Two's complement overflow of Go's 64-bit ``int``."""
    return (value - MIN_INT) % (1 << 64) + MIN_INT


def to_int64(number: float) -> int:
    """``int64(number)`` on amd64: truncated; what 64 bits cannot hold, infinities and NaN are the smallest integer."""
    return int(number) if abs(number) < 1 << 63 else -MAX_INT - 1
