"""Where code can be changed by one operator, number or truth value, and the code with one change or with many to choose from."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.And: "and",
    ast.Or: "or",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
}
_ASKS = '__original__ = getattr(__import__("builtins"), "__original__", lambda number: True)'
"""Imports nothing, as tests look at what is imported; where a process knows of no switch, the code runs as it was written."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LINES = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return
_Placed = ast.expr | ast.keyword | ast.stmt


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: an expression of a function replaced by another.

    ``before`` and ``after`` name it: a number or a truth value with what stands around it, as ``1`` alone tells nobody which.
    ``put`` is the text that comes in place of the bytes from ``start`` to ``end``; ``kind`` is what changes (``< → <=``), and with it
    which of them in the function, if there are several (``< → <=, 2 of 3``): so a change is named whatever the code calls its things.
    """

    path: str
    function: str
    line: int
    before: str
    after: str
    start: int
    end: int
    put: str
    kind: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What names it while lines move: file, function, expression before and after."""
        return self.path, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.function}: {self.before}  →  {self.after}"

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + f"({self.put})".encode() + source[self.end :]


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Every change that can be made to the bodies of the functions of a file, in the order of the file."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: _Placed) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]

    for name, function in _functions(tree, ""):
        around = {below: node for node in ast.walk(function) for below in ast.iter_child_nodes(node)}
        changes = [(node, changed) for node in _expressions(function) for changed in _changes(node)]
        for (node, changed), kind in zip(changes, _numbered([_kind(*change) for change in changes]), strict=True):
            (start, end), put = span(node), ast.unparse(changed)
            before, after = _text(source[start:end]), put
            if isinstance(node, ast.Constant):
                first, last = span(_named(node, around))
                before = _text(source[first:last])
                after = _text(source[first:start] + put.encode() + source[end:last])
            yield Mutant(path, name, node.lineno, before, after, start, end, put, kind)


def _kind(node: ast.expr, changed: ast.expr) -> str:
    """Return the operator, number or truth value of a change, before and after."""
    match node, changed:
        case ast.Compare(ops=[before]), ast.Compare(ops=[after]):
            pass
        case (ast.BoolOp(op=before), ast.BoolOp(op=after)) | (ast.BinOp(op=before), ast.BinOp(op=after)):
            pass
        case ast.UnaryOp(), _:
            return "not → nothing"
        case _:
            return f"{ast.unparse(node)} → {ast.unparse(changed)}"
    return f"{_SIGNS[type(before)]} → {_SIGNS[type(after)]}"


def _numbered(kinds: Sequence[str]) -> Iterator[str]:
    """Each kind, with its place among its like, if there are several."""
    totals, seen = Counter(kinds), Counter[str]()
    for kind in kinds:
        seen[kind] += 1
        yield kind if totals[kind] == 1 else f"{kind}, {seen[kind]} of {totals[kind]}"


def _named(literal: ast.Constant, around: Mapping[ast.AST, ast.AST]) -> _Placed:
    """The smallest expression, keyword or statement of one line's kind in which a literal stands."""
    node: ast.AST = literal
    while isinstance(above := around[node], ast.UnaryOp | ast.Slice):
        node = above
    return above if isinstance(above, ast.expr | ast.keyword | _LINES) else literal


def _text(source: bytes) -> str:
    return " ".join(source.decode().split())


def switched(source: bytes, numbered: Mapping[int, Mutant]) -> bytes:
    """The file with all of these changes, of which `tests.mutants.switch` turns on one; lines keep their numbers."""
    pieces: list[tuple[int, int, int, str]] = []
    for number, mutant in numbered.items():
        size = mutant.end - mutant.start
        pieces.append((mutant.start, 1, -size, "(("))
        pieces.append((mutant.end, 0, size, f") if __original__({number}) else ({mutant.put}))"))
    changed, done = [], 0
    for place, _, _, text in sorted(pieces):
        changed += [source[done:place], text.encode()]
        done = place
    changed.append(source[done:])
    return _asking(b"".join(changed))


def _asking(source: bytes) -> bytes:
    """Finds the switch on the last line of the docstring or of ``from __future__``, so before anything can be called."""
    lines = source.splitlines(keepends=True)
    body = ast.parse(source).body
    early = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    if not early and isinstance(body[0], ast.Expr):
        early = [body[0]]
    if not early:
        return source + f"\n{_ASKS}\n".encode()
    last = early[-1].end_lineno or 1
    lines[last - 1] = lines[last - 1].rstrip(b"\r\n") + f"; {_ASKS}\n".encode()
    return b"".join(lines)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.If | ast.Try):
            yield from _functions(child, prefix)


def _expressions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """What a call of the function evaluates; no annotations, decorators, texts that are formatted, and no docstrings."""
    waiting: list[ast.AST] = [*reversed(function.body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):  # before Python 3.12 its parts have no places
            continue
        if isinstance(node, ast.expr):
            yield node
        below = [child for child in ast.iter_child_nodes(node) if not _is_strict(child)]
        if isinstance(node, ast.AnnAssign):
            below = [child for child in below if child is not node.annotation]
        elif isinstance(node, _FUNCTIONS):
            below = [*node.body]
        waiting.extend(reversed(below))


def _is_strict(node: ast.AST) -> bool:
    """``strict=True`` of zip, which asserts what holds for every input."""
    return isinstance(node, ast.keyword) and node.arg == "strict" and ast.unparse(node.value) == "True"


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=right) if type(operator) in _COMPARISONS:
            yield ast.Compare(left, [_COMPARISONS[type(operator)]()], right)
        case ast.BoolOp(op=ast.And(), values=values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield ast.BoolOp(ast.And(), values)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
            yield ast.BinOp(left, _ARITHMETIC[type(operator)](), right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case _:
            return
