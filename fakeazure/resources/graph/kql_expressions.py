"""Expressions of Kusto's query language, as functions of a row: columns, literals, comparisons, functions, aggregates.

A column that is not there is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fakeazure.arm.tokens import DEEPEST, Tokens
from fakeazure.resources.graph.kql_functions import COMPARISONS, FUNCTIONS, MEASURES, MEMBERSHIP, QueryError, plus

Row = Mapping[str, Any]
Expression = Callable[[Row], Any]
Measure = Callable[[Sequence[Row]], Any]
Item = TypeVar("Item")

_TOKEN = re.compile(
    r"""\s*(?://[^\n]*\s*)?(?:(?P<text>@?"(?:[^"\\]|\\.)*"|@?'(?:[^'\\]|\\.)*')|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<stage>project-away|project-keep|project-rename|mv-expand)|(?P<word>\$?[A-Za-z_]\w*~?)"""
    r"""|(?P<mark>==|!=|=~|!~|<=|>=|!(?=[a-z])|[<>|(),.\[\]=+*/%-]))"""
)
_WORD = re.compile(r"\$?\w+")
_PATH = re.compile(r"""\$?[A-Za-z_]\w*( \. \w+| \[ (\d+|'[^']*'|"[^"]*") \])*""")
"""Words of a path with blanks between them."""


class Expressions(Tokens):
    """Reads expressions from a query's tokens."""

    def __init__(self, text: str) -> None:
        """Read `text`."""
        super().__init__(text, _TOKEN, QueryError)

    def several(self, one: Callable[[], Item]) -> list[Item]:
        """Items with commas between them."""
        found = [one()]
        while self.peek() == ",":
            self.take()
            found.append(one())
        return found

    def expression(self) -> Expression:
        """An expression: terms joined by `and`, which binds closer, and `or`."""
        return self._joined("or", lambda: self._joined("and", self._term))

    def _joined(self, word: str, one: Callable[[], Expression]) -> Expression:
        terms = [one()]
        while self.peek() == word:
            self.take()
            terms.append(one())
        if len(terms) == 1:
            return terms[0]
        judge = any if word == "or" else all
        return lambda row: judge(term(row) is True for term in terms)

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
        found = left
        if operator in COMPARISONS:
            self.take()
            found = self._compared(left, COMPARISONS[operator])
        elif operator in MEMBERSHIP:
            self.take()
            found = self._member(left, MEMBERSHIP[operator])
        elif operator == "between":
            raise QueryError("'between' is not supported here")
        elif negated:
            raise QueryError(f"unexpected '!' before {operator!r}")
        self._depth -= 1
        return (lambda row: not found(row)) if negated else found

    def _compared(self, left: Expression, compare: Callable[[Any, Any], bool]) -> Expression:
        right = self._sum()
        return lambda row: compare(left(row), right(row))

    def _member(self, left: Expression, member: Callable[[Any, Sequence[Any]], bool]) -> Expression:
        self.take("(")
        values = self.several(self._sum)
        self.take(")")
        return lambda row: member(left(row), [value(row) for value in values])

    def _sum(self) -> Expression:
        left = self._value()
        while self.peek() in ("+", "-"):
            left = self._added(left, plus(1 if self.take() == "+" else -1), self._value())
        return left

    def _added(self, left: Expression, add: Callable[[Any, Any], Any], right: Expression) -> Expression:
        return lambda row: add(left(row), right(row))

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
            function = FUNCTIONS[name]

            def run(row: Row) -> Any:
                try:
                    return function(*(argument(row) for argument in arguments))
                except (TypeError, ValueError, IndexError, OverflowError) as error:
                    raise QueryError(f"{name}: {error}") from None

            return self._deeper(run)
        if name == "dynamic":
            raise QueryError("'dynamic' literals are not supported here")
        raise QueryError(f"function {name!r} is not known")

    def _path(self, token: str) -> Expression:
        if not _WORD.fullmatch(token):
            raise QueryError(f"expected a column, found {token!r}")
        return self._deeper(lambda row: row.get(token))

    def _deeper(self, value: Expression) -> Expression:
        """`.name`, `['name']` and `[0]` behind a value."""
        while self.peek() in (".", "["):
            if self.take() == ".":
                value = self._at(value, self.take())
            else:
                negative = self.peek() == "-" and bool(self.take())
                key = self._literal(self.take())
                self.take("]")
                value = self._at(value, -key if negative and isinstance(key, int) else key)
        return value

    def _at(self, value: Expression, key: Any) -> Expression:
        def run(row: Row) -> Any:
            holder = value(row)
            if isinstance(holder, Mapping):
                return holder.get(key)
            if isinstance(holder, list | tuple) and isinstance(key, int) and -len(holder) <= key < len(holder):
                return holder[key]
            return None

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
        return name or f"{function}_{column}", lambda rows: measure([value(row) for row in rows])

    def _literal(self, token: str) -> Any:
        if token[0] == "@":
            return token[2:-1]
        if token[0] in "\"'":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if token in ("true", "false"):
            return token == "true"
        if token[0].isdigit() and len(token) < 40:
            return float(token) if "." in token else int(token)
        raise QueryError(f"expected a literal, found {token!r}")
