"""No module is longer than one can read in a sitting, no function longer than a screen, no call wider than one can keep in mind."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.project.tree import ROOT, modules

MODULE = 350
FUNCTION = 60
ARGUMENTS = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield path, node


def named(path: Path, function: Function) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{function.lineno}: {function.name}"


def required(function: Function) -> int:
    """The arguments that a caller has to give, or may give without a name. Options by name are as many as there are."""
    given = function.args
    by_place = [*given.posonlyargs, *given.args]
    if by_place and by_place[0].arg in ("self", "cls"):
        by_place.pop(0)
    return len(by_place) + sum(default is None for default in given.kw_defaults)


def test_modules_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in modules()
        if (lines := path.read_text(encoding="utf-8").count("\n")) > MODULE
    }
    assert long == {}


def test_functions_are_short() -> None:
    """Split it by what it does: a function that is too long has a noun in it that wants a record of its own."""
    lines = {named(path, each): (each.end_lineno or 0) - each.lineno + 1 for path, each in functions()}
    assert {name: count for name, count in lines.items() if count > FUNCTION} == {}


def test_calls_are_narrow() -> None:
    """What goes together is a record, whose fields are as many as there are facts."""
    wide = {named(path, each): count for path, each in functions() if (count := required(each)) > ARGUMENTS}
    assert wide == {}
