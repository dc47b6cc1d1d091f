"""Kusto's operators, functions and aggregates on plain values.

Text compares as Kusto does: `==` exactly, `=~` without case, `has` by whole terms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


class QueryError(ValueError):
    """The query is not understood; the text says where."""


def text_of(value: Any) -> str:
    """How an operator on text sees a value: objects as their JSON, null as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=dict)


def sort_key(value: Any) -> tuple[int, float, str]:
    """Numbers, then text; nulls have no order of their own."""
    if isinstance(value, bool | int | float):
        return (1, float(value), "")
    return (2, 0.0, text_of(value))


def _has(value: str, term: str) -> bool:
    """`has`: the term occurs with no letter or digit before or after it."""
    start = value.find(term)
    while start >= 0:
        end = start + len(term)
        before = value[start - 1] if start else " "
        after = value[end] if end < len(value) else " "
        if not (before.isalnum() and term[:1].isalnum()) and not (after.isalnum() and term[-1:].isalnum()):
            return True
        start = value.find(term, start + 1)
    return False


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


def _number(value: Any, kind: Callable[[Any], Any]) -> Any:
    try:
        return None if value is None else kind(value)
    except (TypeError, ValueError, OverflowError):
        return None


def plus(sign: int) -> Callable[[Any, Any], Any]:
    """Adds numbers, or takes one from the other where `sign` is -1; null for anything else."""

    def add(left: Any, right: Any) -> Any:
        if isinstance(left, int | float) and isinstance(right, int | float):
            return left + sign * right
        return None

    return add


def _split(value: Any, mark: Any, place: Any = None) -> Any:
    parts = text_of(value).split(text_of(mark)) if mark else [text_of(value)]
    return parts if place is None else parts[int(place) : int(place) + 1]


def _part(value: Any, start: Any, length: Any = None) -> str:
    first = max(0, int(start or 0))
    return text_of(value)[first:] if length is None else text_of(value)[first : first + max(0, int(length))]


_EMPTY: tuple[object, ...] = (None, "", {}, [])
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "isempty": lambda value: value in _EMPTY,
    "isnotempty": lambda value: value not in _EMPTY,
    "isnull": lambda value: value is None,
    "isnotnull": lambda value: value is not None,
    "tostring": text_of,
    "toint": lambda value: _number(value, int),
    "tolong": lambda value: _number(value, int),
    "todouble": lambda value: _number(value, float),
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


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({text_of(value): value for value in values if value is not None}.values())


MEASURES: Mapping[str, Callable[[list[Any]], Any]] = {
    "sum": lambda values: sum(_numbers(values)),
    "avg": lambda values: sum(_numbers(values)) / len(_numbers(values)) if _numbers(values) else None,
    "min": lambda values: min((value for value in values if value is not None), key=sort_key, default=None),
    "max": lambda values: max((value for value in values if value is not None), key=sort_key, default=None),
    "dcount": lambda values: len(_distinct(values)),
    "make_set": _distinct,
    "make_list": lambda values: [value for value in values if value is not None],
    "any": lambda values: values[0] if values else None,
    "take_any": lambda values: values[0] if values else None,
    "countif": lambda values: sum(value is True for value in values),
}
