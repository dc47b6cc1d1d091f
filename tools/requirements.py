"""Writes `requirements/*.txt`: what CI, the image, the action and a release install, each file with its version and its hashes.

    make requirements

`uv` resolves for all platforms and Pythons at once, within `constraints.txt`. The files name no index: pip's own settings hold, and an
index that serves another file is refused (`pip install --require-hashes -r requirements/test.txt`, then the project with `--no-deps`).
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEADER = (
    "# Written by `make requirements` from pyproject.toml and constraints.txt: pip install --require-hashes -r {path}\n"
)
PYTHON = "3.11.5"
"""The oldest Python that all files are for: the site needs this patch, and `actions/setup-python` takes the newest."""
EXTRAS: Mapping[str, Sequence[str]] = {
    "core": (),
    "test": ("crds", "dev"),
    "clusters": ("clusters", "crds", "dev"),
    "image": ("clusters", "completion", "crds", "pytest"),
    "site": ("crds", "dev", "site"),
}
"""File → the project's extras that it holds, beside what the project needs and what builds it."""
EDITABLE = ("editables",)
"""What an installation needs that leaves the project's files where they are (hatchling asks for it when it builds one)."""
RELEASE = ("build", "twine")
"""What the release job runs; its file holds them and what builds the project, not the project's own needs."""


def project(root: Path = ROOT) -> Mapping[str, Any]:
    """Return what `pyproject.toml` says."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def wanted(name: str, pyproject: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the requirements that a file is resolved from. KeyError for a file that is none of ours."""
    builders = tuple(pyproject["build-system"]["requires"])
    if name == "release":
        return (*RELEASE, *builders)
    extras = pyproject["project"]["optional-dependencies"]
    more = tuple(requirement for extra in EXTRAS[name] for requirement in extras[extra])
    return (*pyproject["project"]["dependencies"], *builders, *(EDITABLE if "dev" in EXTRAS[name] else ()), *more)


def resolved(requirements: Sequence[str], uv: str = "uv") -> str:
    """Return the lines of a requirements file, with hashes. CalledProcessError where something cannot be resolved."""
    command = [
        *(
            uv,
            "pip",
            "compile",
            "--universal",
            "--python-version",
            PYTHON,
            "--generate-hashes",
            "--no-header",
            "--quiet",
        ),
        *("--no-annotate", "--constraints", "constraints.txt", "-"),
    ]
    text = "\n".join(requirements)
    done = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, text=True, encoding="locale", check=True, cwd=ROOT
    )
    return done.stdout


def main() -> int:
    """Write all files. Returns the exit code."""
    uv = str(Path(sys.executable).parent / "uv")
    pyproject = project()
    for name in (*EXTRAS, "release"):
        path = Path("requirements") / f"{name}.txt"
        (ROOT / path).parent.mkdir(exist_ok=True)
        (ROOT / path).write_text(HEADER.format(path=path) + resolved(wanted(name, pyproject), uv), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
