"""The part of OData's `$filter` that Azure's lists accept: comparisons, `contains`, `startswith`, `and`, `or`, `not`.

Used by the lists of SKUs, resource groups, resources and role definitions, and by the retail prices API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
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


def parse_filter(text: str, fields: Mapping[str, bool] = MappingProxyType({})) -> Predicate:
    """Compile a filter. An empty one accepts everything.

    `fields` are the names that a filter may ask for, in any case, each with whether its texts compare without case; without any, names
    match the item's keys exactly and text compares as is. FilterError.
    """
    parser = _Parser(text, _TOKEN, FilterError)
    parser.fields = {name.lower(): (name, folded) for name, folded in fields.items()}
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


def _folded(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class _Parser(Conditions):
    conditions = 0
    fields: Mapping[str, tuple[str, bool]] = MappingProxyType({})
    """Lower-case name → name of the item's key, whether its texts compare without case; empty where every name is taken."""

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
            path, plain = self._field(self.take())
            self.take(",")
            part = plain(str(_literal(self.take())))
            self.take(")")
            function = _FUNCTIONS[token]
            return lambda item: function(plain(str(at_path(item, path) or "")), part)
        path, plain = self._field(token)
        compare = _COMPARISONS[self.take(*_COMPARISONS)]
        value = plain(_literal(self.take()))
        return lambda item: compare(plain(at_path(item, path)), value)

    def _field(self, name: str) -> tuple[Sequence[str], Callable[[Any], Any]]:
        """The path of a field, and what its values are made to before they are compared."""
        if not self.fields:
            return name.split("/"), lambda value: value
        if name.lower() not in self.fields:
            raise FilterError(f"Could not find a property named '{shortened(name)}'.")
        key, folded = self.fields[name.lower()]
        return (key,), _folded if folded else lambda value: value
