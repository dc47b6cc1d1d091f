"""No module is longer than one can read in a sitting, no function longer than a screen, no call wider than one can keep in mind."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.project.tree import ROOT, modules, parsed

MODULE = 350
FUNCTION = 60
ARGUMENTS = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(paths: Iterable[Path]) -> Iterator[tuple[Path, Function]]:
    for path in paths:
        for node in ast.walk(parsed(path)):
            if isinstance(node, Function):
                yield path, node


def named(path: Path, function: Function) -> str:
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return f"{place}:{function.lineno}: {function.name}"


def required(function: Function) -> int:
    """The arguments that a caller has to give, or may give without a name. Options by name are as many as there are."""
    given = function.args
    by_place = [*given.posonlyargs, *given.args]
    if by_place and by_place[0].arg in ("self", "cls"):
        by_place.pop(0)
    return len(by_place) + sum(default is None for default in given.kw_defaults)


def long_modules(paths: Iterable[Path]) -> dict[str, int]:
    lines = {path.as_posix(): path.read_text(encoding="utf-8").count("\n") for path in paths}
    return {name: count for name, count in lines.items() if count > MODULE}


def long_functions(paths: Iterable[Path]) -> dict[str, int]:
    lines = {named(path, each): (each.end_lineno or 0) - each.lineno + 1 for path, each in functions(paths)}
    return {name: count for name, count in lines.items() if count > FUNCTION}


def wide_calls(paths: Iterable[Path]) -> dict[str, int]:
    return {named(path, each): count for path, each in functions(paths) if (count := required(each)) > ARGUMENTS}


def test_modules_are_short() -> None:
    assert long_modules(modules()) == {}


def test_functions_are_short() -> None:
    """Split it by what it does: a function that is too long has a noun in it that wants a record of its own."""
    assert long_functions(modules()) == {}


def test_calls_are_narrow() -> None:
    """What goes together is a record, whose fields are as many as there are facts."""
    assert wide_calls(modules()) == {}


def test_what_is_too_large_is_found(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    wide = "class A:\n    def go(self, a, b, c, d, e, /, f, g, *, h, i, j=1):\n        ...\n"
    narrow = wide.replace(" h,", "")
    text = wide + narrow + "async def run():\n" + "    go()\n" * (FUNCTION - 1)
    path.write_text(text)
    assert wide_calls([path]) == {"large.py:2: go": ARGUMENTS + 1}
    assert long_functions([path]) == long_modules([path]) == {}
    path = tmp_path / "larger.py"
    path.write_text(text + "    go()\n")
    assert long_functions([path]) == {"larger.py:7: run": FUNCTION + 1}
    path.write_text("\n" * (MODULE + 1))
    assert long_modules([path]) == {path.as_posix(): MODULE + 1}
