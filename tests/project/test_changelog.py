"""The fragments of the changelog: each has a kind that the changelog knows, and they can be put together."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md")
KINDS = {
    kind["directory"] for kind in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
}


def test_each_fragment_is_called_by_its_subject_and_its_kind() -> None:
    misnamed = [
        path.name
        for path in FRAGMENTS
        if len(parts := path.name.split(".")) != 3 or parts[1] not in KINDS or parts[2] != "md"
    ]
    assert not misnamed, f"changelog.d: NAME.KIND.md is expected, KIND one of {sorted(KINDS)}"


def test_each_fragment_is_in_the_next_changelog() -> None:
    draft = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "towncrier",
            "build",
            "--draft",
            "--version",
            "next",
            "--date",
            "2000-01-01",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = " ".join(draft.split())
    missing = [path.name for path in FRAGMENTS if " ".join(path.read_text().split()) not in words]
    assert not missing
