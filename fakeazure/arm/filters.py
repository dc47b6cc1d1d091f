"""The part of OData's `$filter` that Azure's lists accept: comparisons, `contains`, `startswith`, `tolower`, `and`, `or`, `not`.

Used by every list that has a filter (`arm/lists.py`), by the list of SKUs and by the retail prices API.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fakeazure.arm.tokens import Conditions, Predicate, at_path, shortened

_DECIMAL = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
"""OData's `decimalValue` (OASIS, OData ABNF 4.01)."""
_TOKEN = re.compile(
    rf"\s*(?:(?P<text>'(?:[^']|'')*+')|(?P<number>{_DECIMAL})|(?P<word>[A-Za-z_][\w/.]*)|(?P<mark>[(),])"
    r"|(?P<id>/[\w/.()-]+))"
)
_FUNCTIONS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda value, part: part in value,
    "startswith": lambda value, part: value.startswith(part),
    "endswith": lambda value, part: value.endswith(part),
}


def _equal(left: Any, right: Any) -> bool:
    """Compare values of one type, of which a boolean is no number (OData 4.01, 5.1.1.1.1)."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Compare texts with texts and numbers with numbers; null and values of two types have no order."""

    def judge(left: Any, right: Any) -> bool:
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (left, right))
        return (numbers or (isinstance(left, str) and isinstance(right, str))) and compare(left, right)

    return judge


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "gt": _ordered(operator.gt),
    "ge": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "le": _ordered(operator.le),
}
_CONSTANTS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(_DECIMAL)
_CASES: Mapping[str, Callable[[Any], Any]] = {
    "tolower": lambda value: value.lower() if isinstance(value, str) else value,
    "toupper": lambda value: value.upper() if isinstance(value, str) else value,
}
_MOST = 100
"""Conditions of a filter: the node count that ASP.NET's OData allows (`MaxNodeCount`)."""


class FilterError(ValueError):
    """The filter is not understood; the text says where."""


def parse_filter(
    text: str, fields: Mapping[str, bool] = MappingProxyType({}), only: frozenset[str] = frozenset()
) -> Predicate:
    """Compile a filter. An empty one accepts everything.

    `fields` are the names that a filter may ask for, in any case, each with whether its texts compare without case; without any, names
    match the item's keys exactly and text compares as is. A name that ends in `()` is a function: without an argument it is what the
    item says, with one that text has to be the item's. `only`: some of the fields; an item that has these alone is accepted if what it
    lacks could let it pass. FilterError.
    """
    return _parsed(text, fields, only)[0]


def fields_of(text: str, fields: Mapping[str, bool]) -> frozenset[str]:
    """The fields that a filter asks for. FilterError."""
    return frozenset(_parsed(text, fields, frozenset())[1].asked)


def _parsed(text: str, fields: Mapping[str, bool], only: frozenset[str]) -> tuple[Predicate, _Parser]:
    parser = _Parser(text, _TOKEN, FilterError)
    parser.fields = {name.lower(): (name, folded) for name, folded in fields.items()}
    parser.only, parser.asked = only, set()
    if parser.peek() is None:
        return _anything, parser
    predicate = parser.either()
    if parser.peek() is not None:
        raise FilterError(f"unexpected {parser.peek()!r} in {shortened(text)!r}")
    return predicate, parser


def _literal(token: str) -> Any:
    if token.startswith(
        "/"
    ):  # an id, as the models of Microsoft.Compute write `'virtualMachineScaleSet/id' eq /subscriptions/...`
        return token
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if token in _CONSTANTS:
        return _CONSTANTS[token]
    if _NUMBER.fullmatch(token) is None:
        raise FilterError(f"{shortened(token)!r} is not a literal")
    return float(token)


def _literal_text(token: str) -> str:
    value = _literal(token)
    if not isinstance(value, str):
        raise FilterError(f"{shortened(token)!r} is not a text")
    return value


def _folded(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _anything(item: Mapping[str, Any]) -> bool:
    return True


class _Parser(Conditions):
    conditions = 0
    fields: Mapping[str, tuple[str, bool]] = MappingProxyType({})
    """Lower-case name → name of the item's key, whether its texts compare without case; empty where every name is taken."""

    only: frozenset[str] = frozenset()
    """The fields that decide; empty where all do."""

    asked: set[str]
    """The fields that the filter asks for."""

    def unary(self) -> Predicate:
        token = self.take()
        if token == "not":
            inner = self.nested()
            # what may pass says nothing of what may not
            return _anything if self.only else lambda item: not inner(item)
        if token == "(":
            inner = self.either()
            self.take(")")
            return inner
        self.conditions += 1
        if self.conditions > _MOST:
            raise FilterError(f"The node count limit of '{_MOST}' has been exceeded.")
        if token in _FUNCTIONS:
            return self._of_function(_FUNCTIONS[token])
        if token == "substringof":
            return self._of_function(_FUNCTIONS["contains"], text_first=True)
        if f"{token.lower()}()" in self.fields:
            return self._of_item(self.fields[f"{token.lower()}()"][0])
        value_of, plain, decides = self._operand(token)
        compare = _COMPARISONS[self.take(*_COMPARISONS)]
        value = plain(_literal(self.take()))
        return (lambda item: compare(value_of(item), value)) if decides else _anything

    def _of_function(self, function: Callable[[str, str], bool], *, text_first: bool = False) -> Predicate:
        """`contains(field, 'text')`, which `eq false` and the like may follow; `substringof('text', field)` of OData before 4.0."""
        self.take("(")
        literal = _literal_text(self.take()) if text_first else ""
        if text_first:
            self.take(",")
        value_of, plain, decides = self._operand(self.take())
        if not text_first:
            self.take(",")
            literal = _literal_text(self.take())
        part = plain(literal)
        self.take(")")
        wanted = True
        if self.peek() in ("eq", "ne"):
            wanted = (self.take() == "eq") == (self.take("true", "false") == "true")
        return (lambda item: function(str(value_of(item) or ""), part) == wanted) if decides else _anything

    def _of_item(self, key: str) -> Predicate:
        """`atScope()`, which the item says, or `assignedTo('id')`, whose text the item's has to be."""
        self.take("(")
        if self.peek() == ")":
            self.take(")")
            return lambda item: item.get(key) is True
        text = _literal(self.take())
        self.take(")")
        return lambda item: bool(item.get(key) == text)

    def _operand(self, token: str) -> tuple[Callable[[Mapping[str, Any]], Any], Callable[[Any], Any], bool]:
        """A field, in a function that changes its case or not: its value, what a literal becomes beside it, and whether it decides."""
        case = _CASES.get(token)
        if case is not None:
            self.take("(")
            token = self.take()
            self.take(")")
        path, plain = self._field(token)
        decides = not self.only or path[0] in self.only
        if case is not None:
            return lambda item: plain(case(at_path(item, path))), plain, decides
        return lambda item: plain(at_path(item, path)), plain, decides

    def _field(self, name: str) -> tuple[Sequence[str], Callable[[Any], Any]]:
        """The path of a field, and what its values are made to before they are compared."""
        if not self.fields:
            return name.split("/"), lambda value: value
        name = name.removeprefix("'").removesuffix("'")  # Microsoft.Compute writes `'virtualMachineScaleSet/id'`
        if name.lower() not in self.fields:
            raise FilterError(f"Could not find a property named '{shortened(name)}'.")
        key, folded = self.fields[name.lower()]
        self.asked.add(key)
        return (key,), _folded if folded else lambda value: value
