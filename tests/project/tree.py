"""The files of this project, for tests about the project itself."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("harness", "fakeazure", "atomicfiles", "lazyrecords", "plainlines")


def modules() -> list[Path]:
    """Every Python module of the packages."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax of a module that stays as it is; it is read once for all tests, none of which changes it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def tracked() -> Iterator[Path]:
    """Every file that git keeps; every file of an unpacked archive."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
        yield from (ROOT / name for name in names if (ROOT / name).is_file())
    else:
        hidden = {".venv", ".git", "__pycache__", "reports"}
        yield from (path for path in ROOT.rglob("*") if path.is_file() and not hidden & set(path.parts))
