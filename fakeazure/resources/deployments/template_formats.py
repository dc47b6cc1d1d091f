"""The function `format` of template expressions, whose pattern is one of .NET's composite formats.

Rules: learn.microsoft.com, "String functions for ARM templates", "Composite formatting", "Standard numeric format strings". Bicep compiles
a text with values in it to `format`, and its braces to `{{` and `}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from fakeazure.resources.deployments.template_functions import Function, text_of, wrong
from fakeazure.resources.deployments.template_values import Budget

_ITEM = re.compile(
    r"\{\{|\}\}|\{(?P<place>\d+)\s*(?:,\s*(?P<width>-?\d+)\s*)?(?::(?P<format>[^{}]*))?\}|[{}]", re.ASCII
)
_NUMBER = re.compile(r"(?P<letter>[A-Za-z])(?P<digits>\d{0,2})|(?P<zeros>0+)", re.ASCII)
_WIDEST = 1_000_000
"""The largest width of .NET."""


def _decimals(value: Any, digits: int | None) -> Decimal:
    return Decimal(str(value)).quantize(Decimal(1).scaleb(-(2 if digits is None else digits)), ROUND_HALF_UP)


def _whole(value: Any, digits: int | None) -> str:
    return f"{'-' if value < 0 else ''}{str(abs(value)).rjust(digits or 0, '0')}"


def _hexadecimal(value: Any, digits: int | None) -> str:
    return f"{value & (2**64 - 1):X}".rjust(digits or 0, "0")


_WHOLE: Mapping[str, Callable[[Any, int | None], str]] = {
    "D": _whole,
    "d": _whole,
    "X": _hexadecimal,
    "x": lambda value, digits: _hexadecimal(value, digits).lower(),
}
"""Formats of whole numbers."""
_ANY: Mapping[str, Callable[[Any, int | None], str]] = {
    "N": lambda value, digits: f"{_decimals(value, digits):,f}",
    "n": lambda value, digits: f"{_decimals(value, digits):,f}",
    "F": lambda value, digits: f"{_decimals(value, digits):f}",
    "f": lambda value, digits: f"{_decimals(value, digits):f}",
}
"""Formats of all numbers, with two decimals where they name none."""


def _shown(budget: Budget, value: Any, pattern: str) -> str:
    """A value in a format, which only numbers heed."""
    if not pattern or type(value) not in (int, float):
        return text_of(budget, value)
    match = _NUMBER.fullmatch(pattern)
    if match is not None and match["zeros"] and type(value) is int:
        return _whole(value, len(pattern))
    formats = {**_ANY, **_WHOLE} if type(value) is int else _ANY
    if match is None or match["letter"] not in formats:
        raise wrong("format", f"has a format of numbers that is not emulated: '{pattern[:20]}'")
    return formats[match["letter"]](value, int(match["digits"]) if match["digits"] else None)


def _format(budget: Budget, pattern: str, *values: Any) -> str:
    def filled(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match["place"] is None:
            raise wrong("format", "expects its first parameter to have '{{' and '}}' for braces")
        place, width = int(match["place"][:9]), int((match["width"] or "0")[:9])
        if place >= len(values):
            raise wrong("format", f"has no parameter for '{{{match['place'][:9]}}}'")
        if abs(width) >= _WIDEST:
            raise wrong("format", "has a width that is too large")
        text = _shown(budget, values[place], match["format"] or "")
        budget.spend(max(len(text), abs(width)))
        return text.rjust(width) if width > 0 else text.ljust(-width)

    return _ITEM.sub(filled, pattern)


FORMATS: Mapping[str, Function] = {"format": Function("s ?*", _format, thrifty=True)}
"""Functions by name."""
