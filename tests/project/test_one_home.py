"""What has a name is written in one place: label keys, the default release, the gallery's subscription; and no function stands twice."""

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from harness.karpenter.labels import azure, core
from harness.karpenter.releases import DEFAULT_RELEASE, GALLERY_SUBSCRIPTION
from harness.kube.api import labels
from tests.project.tree import ROOT, modules, parsed

HOMES = {"harness/kube/api/labels.py", "harness/karpenter/labels/core.py", "harness/karpenter/labels/azure.py"}
# beside or below the keys of Karpenter and Azure; what they say of them they say of objects in general
BELOW = ("harness/kube/", "harness/clusterautoscaler/", "harness/nodes/")

KEYS = {
    value
    for module in (labels, core, azure)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str) and "/" in value
}
OF_KUBERNETES = {value for name, value in vars(labels).items() if name.isupper()}


def _texts(path: Path) -> Sequence[tuple[int, str]]:
    """The texts of a module."""
    nodes = ast.walk(parsed(path))
    return [(node.lineno, node.value) for node in nodes if isinstance(node, ast.Constant) and type(node.value) is str]


def _retyped(texts: set[str], *homes: str) -> list[str]:
    found = []
    for path in sorted((ROOT / "harness").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(homes):
            found += [f"{name}:{line}: {text}" for line, text in _texts(path) if text in texts]
    return found


def _retyped_within(pattern: re.Pattern[str], *homes: str) -> list[str]:
    found = []
    for path in sorted((ROOT / "harness").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(homes):
            found += [f"{name}:{line}: {text}" for line, text in _texts(path) if pattern.search(text)]
    return found


def test_label_keys_are_named() -> None:
    assert len(KEYS) > 60
    assert _retyped(OF_KUBERNETES, *HOMES) == []
    assert _retyped(KEYS - OF_KUBERNETES, *HOMES, *BELOW) == []


@pytest.mark.parametrize("text", [GALLERY_SUBSCRIPTION, DEFAULT_RELEASE])
def test_constants_are_named(text: str) -> None:
    # what a release is built of stands under its own version; the pages of the documentation compare two by name
    homes = ("harness/karpenter/releases/",)
    assert _retyped({text}, *homes, "harness/explain/labels/pages.py") == []
    assert _retyped_within(re.compile(rf"(?:default|else):? {text}"), *homes) == []


def test_memories_are_read_and_written_in_one_place() -> None:
    """A result that is remembered has the type of the function that computes it."""
    home = ROOT / "harness/karpenter/scheduling/remembered.py"
    access = re.compile(r"\.remembered(\[|\.(?!clear\(\))|\s*=(?! Memory\(\)))")
    assert access.search(home.read_text(encoding="utf-8")), "the pattern finds accesses"
    others = [path for path in modules() if path != home]
    assert [path for path in others if access.search(path.read_text(encoding="utf-8"))] == []


LONG = 20
"""Parts of a body (nodes of its syntax tree) from which on a second one like it is no chance."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Nameless(ast.NodeTransformer):
    """A function's own names become numbers, so that bodies are compared by what they do."""

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self._numbers: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        name = self._numbers.setdefault(node.id, f"#{len(self._numbers)}") if node.id in self._own else node.id
        return ast.Name(name, ast.Load())


def _body(function: Function) -> tuple[int, str]:
    """How many parts a function's body has, without its docstring, and what it does in a form that equal ones share."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    parts = [node for statement in statements for node in ast.walk(statement)]
    own = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    own |= {node.id for node in parts if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    nameless = _Nameless(own)
    return len(parts), "\n".join(ast.dump(nameless.visit(statement)) for statement in statements)


def twins(texts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Functions that are the same but for their own names; `harness` and `fakeazure` may not import each other.

    Constructors are left out, which keep what they are given, and controllers' routers of what they watch.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for path, text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function) and node.name != "__init__":
                parts, what = _body(node)
                if parts >= LONG:
                    found.setdefault((path.partition("/")[0], what), []).append(f"{path}:{node.name}")
    return [names for names in found.values() if len(names) > 1]


def test_no_function_stands_twice() -> None:
    assert twins((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in modules()) == []


def test_a_second_one_is_found() -> None:
    one = 'def a(pod, *, now):\n    "A."\n    kept = [each for each in pod.parts if each.age < now]\n    return kept[:3]\n'
    other = one.replace('"A."', '"B."').replace("pod", "node").replace("now", "then").replace("kept", "left")
    assert twins([("harness/x.py", one), ("harness/y.py", other)]) == [["harness/x.py:a", "harness/y.py:a"]]
    assert twins([("harness/x.py", one), ("harness/y.py", other.replace("age", "size"))]) == []
    assert twins([("harness/x.py", one), ("fakeazure/y.py", other)]) == []
