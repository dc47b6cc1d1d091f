"""The project names no machine, no package index and nothing outside itself."""

import re
from pathlib import Path

import pytest

from tests.project.tree import ROOT, tracked

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
