"""The project names no machine, no package index and nothing outside itself, and speaks as others do."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.project.tree import ROOT, modules, parsed, tracked
from tests.project.words import empty_names, headless_docstrings

# written so that this file does not contain what it looks for; the last column: files that may
WORDS: list[tuple[str, str, set[str]]] = [
    ("a machine's folder", r"/(?:wor[k]|roo[t]|far[m])/", set()),
    ("a sibling of the repository", r"\.\./share[d]", {".ci/run"}),
    ("a package index", r"(?:extra-)?index-ur[l]|GOPROX[Y]=|registry\.npmj[s]", set()),
    ("work left undone", r"\b(?:TO[D]O|FIXM[E]|XX[X])\b", set()),
]


def text_of(path: Path) -> str:
    raw = path.read_bytes()
    return "" if b"\0" in raw[:4096] else raw.decode("utf-8", "replace")


@pytest.mark.parametrize(("what", "pattern", "allowed"), [pytest.param(*row, id=row[0]) for row in WORDS])
def test_nothing_names(what: str, pattern: str, allowed: set[str]) -> None:
    found = []
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name not in allowed:
            found += [f"{name}: {match[0]}" for match in re.finditer(pattern, text_of(path))]
    assert not found, found[:20]


DIALECT = {
    "Knobs": "Settings",
    "Fitting": "Fit",
    "Said": "History",
    "Hands": "ClusterActions",
    "Servants": "QueueActions",
    "unrest": "outstanding",
    "label_sides": "label_comparison",
    "endless": "runaway",
}
"""Words that only we understood, and what takes their place; of the names of classes, functions and modules."""

SERVERS = {
    "harness/conformance/loop.py:serve",
    "harness/conformance/command.py:run",
    "harness/world/real/world.py:handle",
}
"""Who answers a client. A function returns."""


SCENARIO = ROOT / "harness" / "scenario"

_GIVEN = frozenset({"given"})
"""A key of scenario files, and so the name of its value where they are read."""


class Words(NamedTuple):
    """The words of a module: definitions with their docstrings, locals that name nothing, headless docstrings."""

    place: str
    definitions: list[tuple[str, str]]
    empty: list[str]
    headless: list[str]


def _definitions(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module, and of its classes and functions."""
    yield path.stem, ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.get_docstring(node) or ""


@cache
def words() -> list[Words]:
    """Read every module once."""
    read = []
    for path in modules():
        tree = parsed(path)
        allowed = _GIVEN if path.is_relative_to(SCENARIO) else frozenset[str]()
        empty, headless = [*empty_names(tree, allowed=allowed)], [*headless_docstrings(tree)]
        read.append(Words(str(path.relative_to(ROOT)), [*_definitions(path, tree)], empty, headless))
    return read


def test_names_are_no_dialect_of_ours() -> None:
    dialect = [
        f"{module.place}: {name} is {DIALECT[name]}"
        for module in words()
        for name, _ in module.definitions
        if name in DIALECT
    ]
    assert dialect == []


def test_functions_return() -> None:
    answering = {
        f"{module.place}:{name}"
        for module in words()
        for name, text in module.definitions
        if re.search(r"^Answers\b|[;,] answers (?:the|what|whether|where)\b|`\w+` answers\b", text)
    }
    assert answering <= SERVERS, answering - SERVERS


def test_locals_name_things() -> None:
    empty = [f"{module.place}: {name}" for module in words() for name in module.empty]
    assert not empty, f"{len(empty)} locals that name nothing: {empty[:50]}"


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    headless = [f"{module.place}: {text}" for module in words() for text in module.headless]
    assert not headless, f"{len(headless)} headless docstrings: {headless[:50]}"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("def f(found): pass", ["f: found"], id="a parameter"),
        pytest.param("def f(x):\n    return [each for each in x]", ["f: each"], id="a comprehension"),
        pytest.param("def f(x):\n    return lambda one: one", ["f: one"], id="a lambda"),
        pytest.param("def f(x):\n    if told := x: return told", ["f: told"], id="an assignment in an expression"),
        pytest.param("def f(x):\n    for a, kept in x: pass", ["f: kept"], id="a loop"),
        pytest.param("def f(x):\n    def g(said): pass", ["g: said"], id="a function inside"),
        pytest.param("def f(x):\n    match x:\n        case {'a': asked}: pass", ["f: asked"], id="a pattern"),
        pytest.param("def f(node): return node.found", [], id="an attribute"),
        pytest.param("def f(node): return g(found=node)", [], id="a keyword"),
    ],
)
def test_a_local_that_names_nothing_is_seen(source: str, names: list[str]) -> None:
    assert [*empty_names(ast.parse(source))] == names


@pytest.mark.parametrize(
    ("text", "headless"),
    [
        ("What a node needs.", True),
        ("Whether it fits.", True),
        ("Those of its pods.", True),
        ("How many there are.", True),
        ("Returns the nodes.", True),
        ("Return what a node needs.", False),
        ("The nodes that fit.", False),
        ("Pods of a node.", False),
    ],
)
def test_a_docstring_without_a_verb_or_a_noun_is_seen(text: str, headless: bool) -> None:
    assert bool([*headless_docstrings(ast.parse(f'def f():\n    """{text}"""\n'))]) is headless
