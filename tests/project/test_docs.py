"""Every snippet of the documentation does what the page says.

In a page, a block ``yaml NAME`` is a file for the commands below it; a block ``console`` has commands behind ``$`` and their output, where
``…`` stands for anything in a line and a line of it for any lines; a block ``python`` is run. Other blocks are for reading.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.project.tree import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """(language, name, text) of each fenced block."""
    for match in FENCE.finditer(page.read_text()):
        yield match[1], match[2] or "", match[3]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """(command, expected output) of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output: str) -> str:
    """A regular expression for expected output."""
    lines = []
    for line in output.rstrip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            lines.append(
                ".*".join(re.escape(part.rstrip() if part == line else part) for part in line.split("…")) + r"[ ]*\n"
            )
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets(page: Path, tmp_path: Path, shell: Mapping[str, str]) -> None:
    for language, name, text in blocks(page):
        if name:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif language == "python":
            result = subprocess.run(
                ["python", "-c", text], cwd=tmp_path, env=shell, capture_output=True, text=True, check=False
            )
            assert result.returncode == 0, f"{page.name}:\n{text}\n{result.stderr}"
        elif language == "console":
            for command, expected in commands(text):
                result = subprocess.run(
                    ["bash", "-c", f"{command} 2>&1"],
                    cwd=tmp_path,
                    env=shell,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                printed = result.stdout.rstrip("\n") + "\n"
                assert re.fullmatch(pattern(expected), printed), (
                    f"{page.name}: $ {command}\n{printed}\ninstead of\n{expected}"
                )


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a … c", "a anything c\n", True),
        ("a\n…\nz", "a\nb\nc\nz\n", True),
        ("a\n…\nz", "a\nz\n", True),
        ("1 passed in … s", "1 failed in 2 s\n", False),
        ("a\nb", "a\n", False),
        ("a.c", "abc\n", False),
    ],
)
def test_the_comparison(expected: str, printed: str, same: bool) -> None:
    assert bool(re.fullmatch(pattern(expected), printed)) is same
