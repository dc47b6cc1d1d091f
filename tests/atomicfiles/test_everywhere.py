"""Commands touch a user's files through `atomicfiles` alone: a file read by another way could be a pipe, one that is written torn."""

from __future__ import annotations

import re

import pytest

from tests.project.tree import ROOT

FOLDERS = (
    "fakeazure/commands",
    "fakeazure/snapshots",
    "harness/cli",
    "harness/reading",
    "harness/sweep",
    "harness/trace",
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_read_and_written_by_one_way(folder: str) -> None:
    others = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for match in re.finditer(r"\.(?:read_text|read_bytes|write_text|write_bytes|open)\(.*", path.read_text())
        if not re.match(r"\.open\((?:\"a\"|path\) as|file\) as|os\.devnull)", match[0])
        and not path.read_text()[: match.start()].endswith(("os", "gzip", "outputs", "atomicfiles"))
    ]
    assert others == []
