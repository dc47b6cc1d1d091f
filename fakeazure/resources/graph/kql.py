"""The part of Kusto's query language that clients of Resource Graph send: `Resources | where ... | summarize ... | project ...`.

Operators: `where`, `extend`, `project`, `project-away`, `project-keep`, `project-rename`, `summarize`, `distinct`, `count`, `limit` and
`take`, `top`, `order by` and `sort by`, `mv-expand`, `join`, `union`. Expressions are in `kql_expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from fakeazure.arm.tokens import whole_number
from fakeazure.resources.graph.kql_expressions import Expression, Expressions, Row
from fakeazure.resources.graph.kql_functions import QueryError, sort_key
from fakeazure.resources.graph.kql_limits import Meter
from lazyrecords import dataclass

__all__ = ["Query", "QueryError", "Row", "Tables", "compile_query"]

Tables = Callable[[str], list[Row]]
"""The rows of a table by its name. Raises QueryError for one that does not exist."""
Stage = Callable[[list[Row], Tables], list[Row]]
_JOINS = ("inner", "innerunique", "leftouter", "leftsemi", "leftanti")
_DEEPEST = 4
"""The deepest nesting of queries in joins and unions; Azure allows three joins."""


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled query: its table, what a row of it has to pass first, and the stages behind that."""

    table: str
    filters: Sequence[Expression]
    stages: Sequence[Stage]
    meter: Meter

    def __call__(self, tables: Tables) -> list[Row]:
        """All that it finds. Raises QueryError, also where that costs too much."""
        self.meter.reset()
        return self.found(tables)

    def found(self, tables: Tables) -> list[Row]:
        """All that it finds, within what its run has left."""
        return self.rest([row for row in tables(self.table) if self.passes(row)], tables)

    def passes(self, row: Row) -> bool:
        """Return whether a row passes the filters, which see nothing else."""
        self.meter.step(len(self.filters))
        return all(predicate(row) is True for predicate in self.filters)

    def rest(self, rows: list[Row], tables: Tables) -> list[Row]:
        """Return the result of the stages for the rows that passed."""
        for stage in self.stages:
            self.meter.step(1 + len(rows))
            rows = stage(rows, tables)
        return rows


def compile_query(text: str) -> Query:
    """A query as a function of its tables, for one run after the other. Raises QueryError for what is not understood."""
    parser = _Parser(text)
    query = parser.query(0)
    if parser.peek() is not None:
        raise QueryError(f"unexpected {parser.peek()!r}")
    return query


class _Parser(Expressions):
    def query(self, depth: int) -> Query:
        """A table and the stages behind it, up to the end or a closing parenthesis."""
        if depth > _DEEPEST:
            raise QueryError(f"queries are nested more than {_DEEPEST} deep")
        table = self.take()
        filters: list[Expression] = []
        stages: list[Stage] = []
        while self.peek() == "|":
            self.take()
            if not stages and self.peek() in _FILTERS:
                self.take()
                filters.append(self.expression())
            else:
                stages.append(self.stage(depth))
        return Query(table, filters, stages, self.meter)

    def stage(self, depth: int) -> Stage:
        name = self.take(*_STAGES)
        if name == "join":
            return self._join(depth)
        if name == "union":
            return self._union(depth)
        stage = _STAGES[name](self, name)
        return lambda rows, tables: stage(rows)

    def _where(self, name: str) -> Callable[[list[Row]], list[Row]]:
        """Behind another stage; the first ones are the query's filters."""
        predicate = self.expression()
        return lambda rows: [row for row in rows if predicate(row) is True]

    def _count(self, name: str) -> Callable[[list[Row]], list[Row]]:
        return lambda rows: [{"Count": len(rows)}]

    def _number(self) -> int:
        token = self.take()
        number = whole_number(token)
        if number is None:
            raise QueryError(f"expected a number, found {token!r}")
        return number

    def _limit(self, name: str) -> Callable[[list[Row]], list[Row]]:
        most = self._number()
        return lambda rows: rows[:most]

    def _key(self) -> tuple[Expression, bool, bool]:
        """`a`, `a asc`, `a nulls last`: what is sorted by, whether it falls, and whether nulls come first."""
        value = self.expression()
        descending = self.peek() not in ("asc", "desc") or self.take() == "desc"
        if self.peek() != "nulls":
            return value, descending, not descending
        self.take()
        return value, descending, self.take("first", "last") == "first"

    def _order(self, name: str) -> Callable[[list[Row]], list[Row]]:
        most = self._number() if name == "top" else None
        self.take("by")
        keys = self.several(self._key)

        def run(rows: list[Row]) -> list[Row]:
            ordered = list(rows)
            for expression, descending, nulls_first in reversed(keys):
                self.meter.step(4 * len(ordered))
                values = [(self._comparable(expression(row)), row) for row in ordered]
                nulls = [row for value, row in values if value is None]
                others = [(sort_key(value), row) for value, row in values if value is not None]
                others.sort(key=itemgetter(0), reverse=descending)
                sorted_ = [row for _, row in others]
                ordered = [*nulls, *sorted_] if nulls_first else [*sorted_, *nulls]
            return ordered if most is None else ordered[:most]

        return run

    def _comparable(self, value: Any) -> Any:
        """A value that rows are sorted by: what is no number is text."""
        return value if value is None or isinstance(value, int | float) else self.meter.text(value)

    def _columns(self) -> list[tuple[str, Expression]]:
        """`a`, `b = expression`, `expression`: the names with what fills them."""
        numbers = count(1)
        return [(name or f"Column{next(numbers)}", value) for name, value in self.several(self.named)]

    def _project(self, name: str) -> Callable[[list[Row]], list[Row]]:
        columns, meter = self._columns(), self.meter

        def one(row: Row) -> Row:
            meter.step(len(columns))
            return {column: value(row) for column, value in columns}

        return lambda rows: [one(row) for row in rows]

    def _extend(self, name: str) -> Callable[[list[Row]], list[Row]]:
        columns, meter = self._columns(), self.meter

        def one(row: Row) -> Row:
            meter.step(len(row) + len(columns))
            extended = dict(row)
            for column, value in columns:
                extended[column] = value(extended)
            return extended

        return lambda rows: [one(row) for row in rows]

    def _away(self, name: str) -> Callable[[list[Row]], list[Row]]:
        names, meter = set(self.several(self.take)), self.meter
        keep = name == "project-keep"

        def one(row: Row) -> Row:
            meter.step(len(row))
            return {key: value for key, value in row.items() if (key in names) is keep}

        return lambda rows: [one(row) for row in rows]

    def _rename(self, name: str) -> Callable[[list[Row]], list[Row]]:
        def pair() -> tuple[str, str]:
            new = self.take()
            self.take("=")
            return self.take(), new

        names, meter = dict(self.several(pair)), self.meter

        def one(row: Row) -> Row:
            meter.step(len(row))
            return {names.get(key, key): value for key, value in row.items()}

        return lambda rows: [one(row) for row in rows]

    def _distinct(self, name: str) -> Callable[[list[Row]], list[Row]]:
        columns = self._columns()

        def run(rows: list[Row]) -> list[Row]:
            self.meter.step(len(columns) * len(rows))
            distinct = ({column: value(row) for column, value in columns} for row in rows)
            return list({self.meter.text(row): row for row in distinct}.values())

        return run

    def _summarize(self, name: str) -> Callable[[list[Row]], list[Row]]:
        measures = self.several(self.aggregate) if self.peek() != "by" else []
        groups: list[tuple[str, Expression]] = []
        if self.peek() == "by":
            self.take()
            groups = self._columns()

        def run(rows: list[Row]) -> list[Row]:
            grouped: dict[str, tuple[Row, list[Row]]] = {}
            if not groups:
                grouped[""] = ({}, rows)
            else:
                self.meter.step(len(groups) * len(rows))
                for row in rows:
                    key = {column: value(row) for column, value in groups}
                    grouped.setdefault(self.meter.text(key), (key, []))[1].append(row)
            self.meter.step(len(measures) * len(grouped))
            return [
                {**key, **{column: value(inside) for column, value in measures}} for key, inside in grouped.values()
            ]

        return run

    def _expand(self, name: str) -> Callable[[list[Row]], list[Row]]:
        (column, value), meter = self.named(), self.meter
        if self.peek() == "limit":
            self.take()
            self._number()

        def one(row: Row) -> Iterable[Row]:
            items = value(row)
            if isinstance(items, Mapping):
                items = [{key: item} for key, item in items.items()]
            for item in items if isinstance(items, list | tuple) and items else [None]:
                meter.step(2 + len(row))
                yield {**row, column: item}

        return lambda rows: [expanded for row in rows for expanded in one(row)]

    def _nested(self, depth: int) -> Query:
        self.take("(")
        query = self.query(depth + 1)
        self.take(")")
        return query

    def _union(self, depth: int) -> Stage:
        queries = self.several(lambda: self._nested(depth))
        return lambda rows, tables: [*rows, *(row for query in queries for row in query.found(tables))]

    def _join(self, depth: int) -> Stage:
        kind = "innerunique"
        if self.peek() == "kind":
            self.take()
            self.take("=")
            kind = self.take(*_JOINS)
        query = self._nested(depth)
        self.take("on")
        pairs = self.several(self._pair)
        return lambda rows, tables: _joined(kind, rows, query.found(tables), pairs, self.meter)

    def _pair(self) -> tuple[str, str]:
        """`a`, or `$left.a == $right.b`."""
        if self.peek() != "$left":
            name = self.take()
            return name, name
        self.take()
        self.take(".")
        left = self.take()
        self.take("==")
        self.take("$right")
        self.take(".")
        return left, self.take()


def _joined(
    kind: str, left: Sequence[Row], right: Sequence[Row], pairs: Sequence[tuple[str, str]], meter: Meter
) -> list[Row]:
    """Two tables joined; columns of the right that the left has too get a `1`, as Kusto names them."""
    index: dict[str, list[Row]] = {}
    for row in right:
        index.setdefault(meter.text([row.get(name) for _, name in pairs]), []).append(row)
    if kind == "innerunique":
        left = list({meter.text([row.get(name) for name, _ in pairs]): row for row in reversed(left)}.values())[::-1]
    joined: list[Row] = []
    for row in left:
        matches = index.get(meter.text([row.get(name) for name, _ in pairs]), [])
        if kind in ("leftsemi", "leftanti"):
            if bool(matches) is (kind == "leftsemi"):
                joined.append(row)
            continue
        for other in matches or ([{}] if kind == "leftouter" else []):
            meter.step(2 + len(row) + len(other))
            joined.append({**row, **{f"{key}1" if key in row else key: value for key, value in other.items()}})
    return joined


_FILTERS = ("where", "filter")
_STAGES: Mapping[str, Callable[[_Parser, str], Callable[[list[Row]], list[Row]]]] = {
    "where": _Parser._where,
    "filter": _Parser._where,
    "count": _Parser._count,
    "limit": _Parser._limit,
    "take": _Parser._limit,
    "top": _Parser._order,
    "order": _Parser._order,
    "sort": _Parser._order,
    "project": _Parser._project,
    "project-away": _Parser._away,
    "project-keep": _Parser._away,
    "project-rename": _Parser._rename,
    "extend": _Parser._extend,
    "distinct": _Parser._distinct,
    "summarize": _Parser._summarize,
    "mv-expand": _Parser._expand,
    "mvexpand": _Parser._expand,
    "join": _Parser._where,
    "union": _Parser._where,
}
