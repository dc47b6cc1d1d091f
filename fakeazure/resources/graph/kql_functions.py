"""Kusto's operators, functions and aggregates on plain values.

Text compares as Kusto does: `==` exactly, `=~` without case, `has` by whole terms.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_EDGE = "\0"
_RUNS = re.compile(r"[^\W_]+|[\W_]+")
"""Letters and digits, and what is between them."""
INT64, INT32 = range(-(2**63), 2**63), range(-(2**31), 2**31)
_LARGE = 1e300
_WHOLE = re.compile(r"\s*([+-]?\d{1,19})(?:\.\d{0,20})?\s*", re.ASCII)


class QueryError(ValueError):
    """The query is not understood; the text says where."""


def text_of(value: Any) -> str:
    """Return the text that an operator on text sees of a value: objects as their JSON, null as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=dict)


def sort_key(value: Any) -> tuple[int, float, str]:
    """Numbers, then text; nulls have no order of their own."""
    if isinstance(value, bool | int | float):
        return (1, float(value) if abs(value) < _LARGE else math.copysign(math.inf, value), "")
    return (2, 0.0, text_of(value))


def _has(value: str, term: str) -> bool:
    """`has`: the term occurs with no letter or digit before or after it. In linear time: both are compared with the edges of words
    marked, so that no place is tried twice."""
    if term not in value:
        return False
    edge_before, edge_after = (_EDGE if term[at : at + 1 or None].isalnum() else "" for at in (0, -1))
    return f"{edge_before}{_marked(term)}{edge_after}" in f"{_EDGE}{_marked(value)}{_EDGE}"


def _marked(text: str) -> str:
    return _EDGE.join(_RUNS.findall(text))


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def judge(left: Any, right: Any) -> bool:
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        texts = isinstance(left, str) and isinstance(right, str)
        return (numbers or texts) and compare(left, right)

    return judge


def _folded(compare: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: compare(text_of(left).lower(), text_of(right).lower())


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "=~": _folded(lambda left, right: left == right),
    "!~": _folded(lambda left, right: left != right),
    "<": _ordered(lambda left, right: bool(left < right)),
    "<=": _ordered(lambda left, right: bool(left <= right)),
    ">": _ordered(lambda left, right: bool(left > right)),
    ">=": _ordered(lambda left, right: bool(left >= right)),
    "has": _folded(_has),
    "has_cs": lambda left, right: _has(text_of(left), text_of(right)),
    "contains": _folded(lambda left, right: right in left),
    "contains_cs": lambda left, right: text_of(right) in text_of(left),
    "startswith": _folded(lambda left, right: left.startswith(right)),
    "startswith_cs": lambda left, right: text_of(left).startswith(text_of(right)),
    "endswith": _folded(lambda left, right: left.endswith(right)),
    "endswith_cs": lambda left, right: text_of(left).endswith(text_of(right)),
}
MEMBERSHIP: Mapping[str, Callable[[Any, Sequence[Any]], bool]] = {
    "in": lambda left, right: left in right,
    "in~": lambda left, right: text_of(left).lower() in {text_of(item).lower() for item in right},
    "has_any": lambda left, right: any(_has(text_of(left).lower(), text_of(item).lower()) for item in right),
}


def _whole(value: Any, within: range) -> int | None:
    """A value as an integer; null for what is none, or does not fit."""
    if isinstance(value, str):
        match = _WHOLE.fullmatch(value)
        value = int(match[1]) if match is not None else None
    if not isinstance(value, int | float) or not math.isfinite(value) or int(value) not in within:
        return None
    return int(value)


def _real(value: Any) -> float | None:
    """A value as a number; null for what is none, or not finite: JSON has no such number."""
    try:
        number = float(value[:400] if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None


def fitting(number: int | float | None) -> int | float | None:
    """The result of a calculation; null where it does not fit into 64 bits."""
    if isinstance(number, int):
        return number if number in INT64 else None
    return number if number is not None and math.isfinite(number) else None


def plus(left: Any, right: Any, sign: int) -> int | float | None:
    """Add numbers, or take one from the other where `sign` is -1; null for anything else."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        try:
            return fitting(left + sign * right)
        except OverflowError:
            return None
    return None


def _split(value: Any, mark: Any, place: Any = None) -> Any:
    parts = text_of(value).split(text_of(mark)) if mark else [text_of(value)]
    return parts if place is None else parts[int(place) : int(place) + 1]


def _part(value: Any, start: Any, length: Any = None) -> str:
    first = max(0, int(start or 0))
    return text_of(value)[first:] if length is None else text_of(value)[first : first + max(0, int(length))]


TEXTUAL = frozenset(
    ("tostring", "tobool", "tolower", "toupper", "strlen", "strcat", "split", "substring", "replace_string")
)
"""The functions that look at their arguments as text."""
ORDERED = frozenset(("==", "!=", "<", "<=", ">", ">="))
"""The comparisons that look at values as they are; the others look at them as text."""


def made(name: str, arguments: Sequence[Any]) -> int:
    """Return how many characters the text has that a function makes of its arguments; 0 for one that makes none."""
    if name == "strcat":
        return sum(len(text_of(argument)) for argument in arguments)
    if name == "replace_string" and len(arguments) == 3:
        value, old, new = map(text_of, arguments)
        return len(value) + (value.count(old) * len(new) if old else 0)
    return len(arguments[0]) if name in TEXTUAL and arguments and isinstance(arguments[0], str) else 0


_EMPTY: tuple[object, ...] = (None, "", {}, [])
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "isempty": lambda value: value in _EMPTY,
    "isnotempty": lambda value: value not in _EMPTY,
    "isnull": lambda value: value is None,
    "isnotnull": lambda value: value is not None,
    "tostring": text_of,
    "toint": lambda value: _whole(value, INT32),
    "tolong": lambda value: _whole(value, INT64),
    "todouble": _real,
    "tobool": lambda value: {"true": True, "false": False}.get(text_of(value).lower()),
    "tolower": lambda value: text_of(value).lower(),
    "toupper": lambda value: text_of(value).upper(),
    "strlen": lambda value: len(text_of(value)),
    "strcat": lambda *values: "".join(text_of(value) for value in values),
    "split": _split,
    "substring": _part,
    "replace_string": lambda value, old, new: (
        text_of(value).replace(text_of(old), text_of(new)) if old else text_of(value)
    ),
    "array_length": lambda value: len(value) if isinstance(value, list | tuple) else None,
    "coalesce": lambda *values: next((value for value in values if value not in (None, "")), None),
    "iff": lambda test, yes, no: yes if test is True else no,
    "iif": lambda test, yes, no: yes if test is True else no,
    "todynamic": lambda value: value,
    "parse_json": lambda value: value,
    "bag_keys": lambda value: list(value) if isinstance(value, Mapping) else None,
}


def _numbers(values: Iterable[Any]) -> list[float]:
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def _sum(numbers: list[float]) -> float | None:
    try:
        return sum(numbers)
    except OverflowError:
        return None


def _mean(numbers: list[float]) -> float | None:
    try:
        return sum(numbers) / len(numbers)
    except (OverflowError, ZeroDivisionError):
        return None


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({text_of(value): value for value in values if value is not None}.values())


MEASURES: Mapping[str, Callable[[list[Any]], Any]] = {
    "sum": lambda values: fitting(_sum(_numbers(values))),
    "avg": lambda values: fitting(_mean(_numbers(values))),
    "min": lambda values: min((value for value in values if value is not None), key=sort_key, default=None),
    "max": lambda values: max((value for value in values if value is not None), key=sort_key, default=None),
    "dcount": lambda values: len(_distinct(values)),
    "make_set": _distinct,
    "make_list": lambda values: [value for value in values if value is not None],
    "any": lambda values: values[0] if values else None,
    "take_any": lambda values: values[0] if values else None,
    "countif": lambda values: sum(value is True for value in values),
}
