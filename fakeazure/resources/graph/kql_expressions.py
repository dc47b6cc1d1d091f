"""Expressions of Kusto's query language, as functions of a row: columns, literals, comparisons, functions, aggregates.

A column that is not there is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fakeazure.arm.tokens import DEEPEST, Tokens
from fakeazure.resources.graph.kql_functions import (
    COMPARISONS,
    FUNCTIONS,
    MEASURES,
    MEMBERSHIP,
    ORDERED,
    TEXTUAL,
    QueryError,
    fitting,
    made,
    plus,
)  # fmt: skip
from fakeazure.resources.graph.kql_limits import LONGEST_QUERY, LimitExceeded, Meter

Row = Mapping[str, Any]
Expression = Callable[[Row], Any]
Measure = Callable[[Sequence[Row]], Any]
Item = TypeVar("Item")

_TOKEN = re.compile(
    r"""\s*+(?://[^\n]*+\s*+)*+(?:(?P<text>@?"(?:[^"\\]|\\.)*+"|@?'(?:[^'\\]|\\.)*+')|(?P<number>[0-9]+(?:\.[0-9]+)?)"""
    r"""|(?P<stage>project-away|project-keep|project-rename|mv-expand)|(?P<word>\$?[A-Za-z_]\w*~?)"""
    r"""|(?P<mark>==|!=|=~|!~|<=|>=|!(?=[a-z])|[<>|(),.\[\]=+*/%-]))"""
)
_WORD = re.compile(r"\$?\w+")
_PATH = re.compile(r"""\$?[A-Za-z_]\w*( \. \w+| \[ (\d+|'[^']*'|"[^"]*") \])*""")
"""Words of a path with blanks between them."""


class Expressions(Tokens):
    """Reads expressions from a query's tokens."""

    def __init__(self, text: str) -> None:
        """Read `text`. Raises QueryError for one that is too long."""
        if len(text) > LONGEST_QUERY:
            raise QueryError(f"the query is longer than {LONGEST_QUERY} characters")
        super().__init__(text, _TOKEN, QueryError)
        self.meter = Meter()

    def several(self, part: Callable[[], Item]) -> list[Item]:
        """Items with commas between them."""
        parts = [part()]
        while self.peek() == ",":
            self.take()
            parts.append(part())
        return parts

    def expression(self) -> Expression:
        """An expression: terms joined by `and`, which binds closer, and `or`."""
        return self._joined("or", lambda: self._joined("and", self._term))

    def _joined(self, word: str, part: Callable[[], Expression]) -> Expression:
        terms = [part()]
        while self.peek() == word:
            self.take()
            terms.append(part())
        if len(terms) == 1:
            return terms[0]
        judge, meter, count = any if word == "or" else all, self.meter, len(terms)

        def joined(row: Row) -> bool:
            meter.step(count)
            return judge(term(row) is True for term in terms)

        return joined

    def _term(self) -> Expression:
        """A value, or two that are compared."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise QueryError(f"expressions are nested more than {DEEPEST} deep")
        left = self._sum()
        negated = self.peek() == "!"
        if negated:
            self.take()
        operator = self.peek() or ""
        test = left
        if operator in COMPARISONS:
            self.take()
            test = self._compared(left, operator)
        elif operator in MEMBERSHIP:
            self.take()
            test = self._member(left, MEMBERSHIP[operator])
        elif operator == "between":
            raise QueryError("'between' is not supported here")
        elif negated:
            raise QueryError(f"unexpected '!' before {operator!r}")
        self._depth -= 1
        return (lambda row: not test(row)) if negated else test

    def _compared(self, left: Expression, operator: str) -> Expression:
        right, compare, meter = self._sum(), COMPARISONS[operator], self.meter
        if operator not in ORDERED:
            return lambda row: compare(meter.text(left(row)), meter.text(right(row)))

        def compared(row: Row) -> bool:
            meter.step()
            return compare(left(row), right(row))

        return compared

    def _member(self, left: Expression, member: Callable[[Any, Sequence[Any]], bool]) -> Expression:
        self.take("(")
        values = self.several(self._sum)
        self.take(")")
        meter = self.meter

        def judge(row: Row) -> bool:
            meter.step(len(values))
            return member(meter.argument(left(row)), [meter.argument(value(row)) for value in values])

        return judge

    def _sum(self) -> Expression:
        first, more = self._value(), list[tuple[int, Expression]]()
        while self.peek() in ("+", "-"):
            more.append((1 if self.take() == "+" else -1, self._value()))
        if not more:
            return first
        meter = self.meter

        def total(row: Row) -> Any:
            meter.step(len(more))
            total_ = first(row)
            for sign, value in more:
                total_ = plus(total_, value(row), sign)
            return total_

        return total

    def _value(self) -> Expression:
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if token == "not":
            self.take("(")
            inner = self.expression()
            self.take(")")
            return lambda row: not inner(row)
        if token == "-" and (self.peek() or "")[:1].isdigit():
            number = self._literal(self.take())
            return lambda row: -number
        if token[0] in "\"'@" or token[0].isdigit() or token in ("true", "false"):
            literal = self._literal(token)
            return lambda row: literal
        if self.peek() == "(":
            return self._call(token)
        return self._path(token)

    def _call(self, name: str) -> Expression:
        self.take("(")
        if name in ("iff", "iif") or name in FUNCTIONS:
            arguments = self.several(self.expression) if self.peek() != ")" else []
            self.take(")")
            return self._deeper(self._run(name, arguments))
        if name == "dynamic":
            raise QueryError("'dynamic' literals are not supported here")
        raise QueryError(f"function {name!r} is not known")

    def _run(self, name: str, arguments: Sequence[Expression]) -> Expression:
        function, meter, textual = FUNCTIONS[name], self.meter, name in TEXTUAL

        def run(row: Row) -> Any:
            meter.step(1 + len(arguments))
            values = [argument(row) for argument in arguments]
            if textual:
                values = [meter.argument(value) for value in values]
                meter.make(made(name, values))
            try:
                return function(*values)
            except LimitExceeded:
                raise
            except (TypeError, ValueError, IndexError, OverflowError):
                raise QueryError(f"{name}(): it does not take arguments of these numbers and types") from None

        return run

    def _path(self, token: str) -> Expression:
        if not _WORD.fullmatch(token):
            raise QueryError(f"expected a column, found {token!r}")
        return self._deeper(lambda row: row.get(token))

    def _deeper(self, value: Expression) -> Expression:
        """`.name`, `['name']` and `[0]` behind a value."""
        keys: list[Any] = []
        while self.peek() in (".", "["):
            if self.take() == ".":
                keys.append(self.take())
                continue
            negative = self.peek() == "-" and bool(self.take())
            key = self._literal(self.take())
            self.take("]")
            keys.append(-key if negative and isinstance(key, int) else key)
        if not keys:
            return value
        meter = self.meter

        def run(row: Row) -> Any:
            meter.step(len(keys))
            holder = value(row)
            for key in keys:
                holder = _at(holder, key)
            return holder

        return run

    def named(self) -> tuple[str, Expression]:
        """`name = expression`, `name`, or an expression: then a path has its parts as name, other expressions have none."""
        tokens, start = self._tokens, self._position
        if start + 1 < len(tokens) and tokens[start + 1] == "=" and _WORD.fullmatch(tokens[start]):
            name = self.take()
            self.take()
            return name, self.expression()
        value = self.expression()
        read = tokens[start : self._position]
        words = [word.strip("\"'") for word in read if word not in (".", "[", "]")]
        return ("_".join(words) if _PATH.fullmatch(" ".join(read)) else ""), value

    def aggregate(self) -> tuple[str, Measure]:
        """`count()`, `total = sum(a)`, ...: the column and how it is made from rows."""
        name = ""
        if self._position + 1 < len(self._tokens) and self._tokens[self._position + 1] == "=":
            name = self.take()
            self.take()
        function = self.take("count", *MEASURES)
        self.take("(")
        if function == "count":
            self.take(")")
            return name or "count_", len
        column, value = self.named()
        self.take(")")
        measure = MEASURES[function]
        meter, textual = self.meter, function in ("dcount", "make_set", "max", "min")

        def measured(rows: Sequence[Row]) -> Any:
            meter.step(len(rows))
            values = [value(row) for row in rows]
            if textual:
                for item in values:
                    meter.argument(item)
            return measure(values)

        return name or f"{function}_{column}", measured

    def _literal(self, token: str) -> Any:
        if token[0] == "@":
            return token[2:-1]
        if token[0] in "\"'":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if token in ("true", "false"):
            return token == "true"
        if (
            token[0].isdigit()
            and len(token) < 40
            and fitting(number := float(token) if "." in token else int(token)) is not None
        ):
            return number
        raise QueryError(f"expected a literal, found {token!r}")


def _at(holder: Any, key: Any) -> Any:
    """Return the value in an object under a key, or in an array at a place; null where there is nothing."""
    if isinstance(holder, Mapping):
        return holder.get(key)
    if isinstance(holder, list | tuple) and type(key) is int and -len(holder) <= key < len(holder):
        return holder[key]
    return None
