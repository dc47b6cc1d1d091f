"""What leaves a process goes through one door each: text through `plainlines`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import ROOT, modules

PRINTS = ("plainlines/__init__.py",)
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))


def is_stream(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in STREAMS and ast.unparse(node.value) == "sys"


def prints(call: ast.Call) -> bool:
    """Whether it is `print`, a method of a standard stream that writes, or gets such a stream to write to."""
    if isinstance(call.func, ast.Name):
        return call.func.id in ("print", "pprint")
    if not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in ("write", "writelines") and is_stream(call.func.value)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("text", ["print(1)", "sys.stderr.write('a')", "sys.stdout.writelines(a)"])
def test_what_prints_is_found(text: str) -> None:
    (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    assert prints(call)


def test_everything_that_is_printed_goes_through_one_place() -> None:
    found = [f"{name(path)}:{call.lineno}" for path in modules() for call in calls(path) if prints(call)]
    assert [place for place in found if place.partition(":")[0] not in PRINTS] == []
