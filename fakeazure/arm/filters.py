"""The part of OData's `$filter` that Azure's lists accept: comparisons, `contains`, `startswith`, `and`, `or`, `not`.

Used by the SKU list (`location eq 'eastus'`) and the retail prices API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.arm.tokens import Conditions, Predicate, at_path, shortened

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*+')|(?P<number>-?[0-9]+(?:\.[0-9]+)?)|(?P<word>[A-Za-z_][\w/.]*)|(?P<mark>[(),]))"
)
_FUNCTIONS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda value, part: part in value,
    "startswith": lambda value, part: value.startswith(part),
    "endswith": lambda value, part: value.endswith(part),
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda left, right: bool(left == right),
    "ne": lambda left, right: bool(left != right),
    "gt": lambda left, right: type(left) is type(right) and bool(left > right),
    "ge": lambda left, right: type(left) is type(right) and bool(left >= right),
    "lt": lambda left, right: type(left) is type(right) and bool(left < right),
    "le": lambda left, right: type(left) is type(right) and bool(left <= right),
}


_MOST = 100
"""Conditions of a filter: the node count that ASP.NET's OData allows (`MaxNodeCount`)."""


class FilterError(ValueError):
    """The filter is not understood; the text says where."""


def parse_filter(text: str) -> Predicate:
    """Compile a filter. An empty one accepts everything. Field names match the item's keys exactly, text compares as is."""
    parser = _Parser(text, _TOKEN, FilterError)
    if parser.peek() is None:
        return lambda item: True
    predicate = parser.either()
    if parser.peek() is not None:
        raise FilterError(f"unexpected {parser.peek()!r} in {shortened(text)!r}")
    return predicate


def _literal(token: str) -> Any:
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if token in ("true", "false"):
        return token == "true"
    try:
        return float(token)
    except ValueError:
        raise FilterError(f"{token!r} is not a literal") from None


class _Parser(Conditions):
    conditions = 0

    def unary(self) -> Predicate:
        token = self.take()
        if token == "not":
            inner = self.nested()
            return lambda item: not inner(item)
        if token == "(":
            inner = self.either()
            self.take(")")
            return inner
        self.conditions += 1
        if self.conditions > _MOST:
            raise FilterError(f"The node count limit of '{_MOST}' has been exceeded.")
        if token in _FUNCTIONS:
            self.take("(")
            path = self.take().split("/")
            self.take(",")
            part = str(_literal(self.take()))
            self.take(")")
            function = _FUNCTIONS[token]
            return lambda item: function(str(at_path(item, path) or ""), part)
        compare = _COMPARISONS[self.take(*_COMPARISONS)]
        value, path = _literal(self.take()), token.split("/")
        return lambda item: compare(at_path(item, path), value)
