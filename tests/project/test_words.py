"""The project names no machine, no package index and nothing outside itself, and speaks as others do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import ROOT, modules, tracked
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


def _definitions(path: Path) -> Iterator[tuple[str, str]]:
    """Name and docstring of a module, and of its classes and functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield path.stem, ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.get_docstring(node) or ""


def test_names_are_no_dialect_of_ours() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name} is {DIALECT[name]}"
        for path in modules()
        for name, _ in _definitions(path)
        if name in DIALECT
    ]
    assert found == []


def test_functions_return() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{name}"
        for path in modules()
        for name, text in _definitions(path)
        if re.search(r"^Answers\b|[;,] answers (?:the|what|whether|where)\b|`\w+` answers\b", text)
    }
    assert found <= SERVERS, found - SERVERS


SCENARIO = ROOT / "harness" / "scenario"

_GIVEN = frozenset({"given"})
"""A key of scenario files, and so the name of its value where they are read."""


def test_locals_name_things() -> None:
    empty = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules()
        for name in empty_names(path, allowed=_GIVEN if path.is_relative_to(SCENARIO) else frozenset())
    ]
    assert not empty, f"{len(empty)} locals that name nothing: {empty[:50]}"


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    headless = [f"{path.relative_to(ROOT)}: {text}" for path in modules() for text in headless_docstrings(path)]
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
def test_a_local_that_names_nothing_is_seen(source: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(source)
    assert [*empty_names(tmp_path / "module.py")] == names


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
def test_a_docstring_without_a_verb_or_a_noun_is_seen(text: str, headless: bool, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f'def f():\n    """{text}"""\n')
    assert bool([*headless_docstrings(tmp_path / "module.py")]) is headless
