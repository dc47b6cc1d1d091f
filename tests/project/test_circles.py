"""No circle of files: what a module imports, in a function or for types too, never leads back to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import grimp
import pytest

from tests.project.tree import PACKAGES


def circles(imports: Mapping[str, Set[str]]) -> Iterator[list[str]]:
    """The modules of each circle: those that lead to one another."""
    leads: dict[str, set[str]] = {}
    for module in imports:
        found: set[str] = set()
        waiting = [module]
        while waiting:
            new = imports[waiting.pop()] - found
            found |= new
            waiting += new
        leads[module] = found
    told: set[str] = set()
    for module in sorted(leads):
        if module in leads[module] and module not in told:
            circle = [other for other in sorted(leads[module]) if module in leads[other]]
            told.update(circle)
            yield circle


def imports_of(*packages: str) -> dict[str, set[str]]:
    """Module → the modules of these packages that it imports, wherever the import stands."""
    first, *others = packages
    graph = grimp.build_graph(first, *others, exclude_type_checking_imports=False, cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def test_no_circle_of_files() -> None:
    imports = imports_of(*PACKAGES)
    assert len(imports) > 800
    assert list(circles(imports)) == []


def test_a_circle_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that is closed by a function's import, or by one for types."""
    package = tmp_path / "harness_of_circles"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from harness_of_circles import b\n")
    (package / "b.py").write_text("def ask():\n    from harness_of_circles import c\n")
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from harness_of_circles import a\n"
    (package / "c.py").write_text(types)
    monkeypatch.syspath_prepend(tmp_path)
    name = "harness_of_circles"
    assert list(circles(imports_of(name))) == [[f"{name}.a", f"{name}.b", f"{name}.c"]]
