"""The part of Kusto's query language that Resource Graph clients here send: `Resources | where ... | project ...`.

Operators: `where` with `==`, `!=`, `=~`, `!~`, `has`, `has_cs`, `contains`, `contains_cs`, `startswith`, `endswith`, `in`,
`in~`, `and`, `or`, `not(...)`, `isnotempty(...)`, `isempty(...)`, `isnull(...)`, `isnotnull(...)`; `project`, `limit` or `take`,
`count`, `order by`. Columns are paths: `tags['key']`, `properties.priority`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakeazure.arm.tokens import Conditions, Predicate, at_path

Row = Mapping[str, Any]
Stage = Callable[[list[Row]], list[Row]]

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<word>[A-Za-z_]\w*~?)|(?P<mark>==|!=|=~|!~|<=|>=|[<>|(),.\[\]=]))"""
)
_WORD = re.compile(r"\w+")


class QueryError(ValueError):
    """The query is not understood; the text says where."""


def compile_query(text: str) -> tuple[str, Stage]:
    """A query as (table, function over its rows)."""
    parser = _Parser(text, _TOKEN, QueryError)
    table = parser.take()
    stages: list[Stage] = []
    while parser.peek() is not None:
        parser.take("|")
        stages.append(parser.stage())

    def run(rows: list[Row]) -> list[Row]:
        for stage in stages:
            rows = stage(rows)
        return rows

    return table, run


def _text(value: Any) -> str:
    """How an operator on text sees a value: objects as their JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


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


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "=~": lambda left, right: _text(left).lower() == _text(right).lower(),
    "!~": lambda left, right: _text(left).lower() != _text(right).lower(),
    "has": lambda left, right: _has(_text(left).lower(), _text(right).lower()),
    "has_cs": lambda left, right: _has(_text(left), _text(right)),
    "contains": lambda left, right: _text(right).lower() in _text(left).lower(),
    "contains_cs": lambda left, right: _text(right) in _text(left),
    "startswith": lambda left, right: _text(left).lower().startswith(_text(right).lower()),
    "endswith": lambda left, right: _text(left).lower().endswith(_text(right).lower()),
}
_MEMBERSHIP: Mapping[str, Callable[[Any, Sequence[Any]], bool]] = {
    "in": lambda left, right: left in right,
    "in~": lambda left, right: _text(left).lower() in {_text(item).lower() for item in right},
}
_TESTS: Mapping[str, Callable[[Any], bool]] = {
    "isempty": lambda value: value in (None, "", {}, []),
    "isnotempty": lambda value: value not in (None, "", {}, []),
    "isnull": lambda value: value is None,
    "isnotnull": lambda value: value is not None,
}


class _Parser(Conditions):
    def stage(self) -> Stage:
        name = self.take("where", "project", "limit", "take", "count", "order")
        if name == "where":
            predicate = self.either()
            return lambda rows: [row for row in rows if predicate(row)]
        if name == "count":
            return lambda rows: [{"Count": len(rows)}]
        if name in ("limit", "take"):
            token = self.take()
            if not token.isdigit():
                raise QueryError(f"expected a number, found {token!r}")
            count = int(token)
            return lambda rows: rows[:count]
        if name == "order":
            self.take("by")
            path = self.path(self.take())
            descending = self.peek() in ("asc", "desc") and self.take() == "desc"
            return lambda rows: sorted(rows, key=lambda row: _text(at_path(row, path)), reverse=descending)
        columns = [self.path(self.take())]
        while self.peek() == ",":
            self.take()
            columns.append(self.path(self.take()))
        return lambda rows: [{".".join(path): at_path(row, path) for path in columns} for row in rows]

    def unary(self) -> Predicate:
        token = self.take()
        if token == "not":
            self.take("(")
            inner = self.either()
            self.take(")")
            return lambda row: not inner(row)
        if token == "(":
            inner = self.either()
            self.take(")")
            return inner
        if token in _TESTS:
            self.take("(")
            path = self.path(self.take())
            self.take(")")
            test = _TESTS[token]
            return lambda row: test(at_path(row, path))
        return self.comparison(token)

    def comparison(self, token: str) -> Predicate:
        path = self.path(token)
        operator = self.take(*_OPERATORS, *_MEMBERSHIP)
        if operator in _MEMBERSHIP:
            self.take("(")
            values = [self.literal(self.take())]
            while self.peek() == ",":
                self.take()
                values.append(self.literal(self.take()))
            self.take(")")
            member = _MEMBERSHIP[operator]
            return lambda row: member(at_path(row, path), values)
        compare, value = _OPERATORS[operator], self.literal(self.take())
        return lambda row: compare(at_path(row, path), value)

    def path(self, token: str) -> tuple[str, ...]:
        if not _WORD.fullmatch(token):
            raise QueryError(f"expected a column, found {token!r}")
        parts = [token]
        while self.peek() in (".", "["):
            if self.take() == ".":
                parts.append(self.take())
            else:
                parts.append(str(self.literal(self.take())))
                self.take("]")
        return tuple(parts)

    def literal(self, token: str) -> Any:
        if token[0] in "\"'":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if token in ("true", "false"):
            return token == "true"
        if token[0].isdigit():
            return float(token) if "." in token else int(token)
        raise QueryError(f"expected a literal, found {token!r}")
