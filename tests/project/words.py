"""Words that say nothing: names of locals that name no thing, and docstrings that begin without a verb or a noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["empty_names", "headless_docstrings"]

EMPTY = frozenset({"asked", "each", "found", "given", "kept", "known", "one", "said", "told", "what"})
"""Names of any thing, which name none."""

_HEADLESS = re.compile(
    r"(What|Those|Whether|Which|Who|Whom|Whose|Of|That|How|Why|Where|It|They|These|As|None|Nothing that)\b"
)
"""The beginning of a relative clause, or of a question, in the place of a noun."""

_THIRD_PERSON = re.compile(
    r"(?:Return|Yield|Raise|Give|Take|Make|Add|Remove|Delete|Create|Write|Read|Set|Put|Keep|Let|Run|Start|Stop|End|Begin|Wait"
    r"|Count|Note|Record|Declare|Replace|Change|Leave|Send|Ask|Print|Sort|Move|Close|Refuse|Load|Bring|Do|Patch|Appl(?:ie)?)"
    r"(?:e?s)\b"
)
"""A function that tells about itself; it is told what to do: "Return …"."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(tree: ast.Module) -> Iterator[_Function]:
    return (node for node in ast.walk(tree) if isinstance(node, _Function))


def _bound(function: _Function) -> Iterator[str]:
    """Yield the parameters and locals of a function and of the lambdas and comprehensions in it."""
    pending: list[ast.AST] = [function.args, *function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, _Function | ast.ClassDef):
            continue
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name is not None:
            yield node.name
        pending.extend(ast.iter_child_nodes(node))


def empty_names(tree: ast.Module, *, allowed: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield `function: name` for each parameter or local of a module whose name is empty."""
    for function in _functions(tree):
        for name in sorted({*_bound(function)} & EMPTY - allowed):
            yield f"{function.name}: {name}"


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str, bool]]:
    """Yield name and docstring of a module and its parts, fields and constants too, and whether it is a function's."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function) and (text := ast.get_docstring(node)) is not None:
            own.add(id(node.body[0]))
            yield getattr(node, "name", "module"), text, isinstance(node, _Function)
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))) if id(node) not in own:
                yield f"line {node.lineno}", text, False


def headless_docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield `name: first words` for each docstring of a module that begins with neither a verb in the imperative nor a noun."""
    for name, text, is_function in _docstrings(tree):
        is_flag = name.startswith("line ") and text.startswith("Whether ")  # of a field that is true or false
        if (_HEADLESS.match(text) and not is_flag) or (is_function and _THIRD_PERSON.match(text)):
            yield f"{name}: {text[:50]}"
