"""What the playground is built from: `python -m tools.playground FOLDER`; `make playground` bundles it with Pyodide (`playground/`).

The examples are the documentation's own: the files and commands of README.md's questions and of `docs/answers`, which the tests run.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from fakeazure.catalog.regions import REGIONS
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, DEFAULT_RELEASE

ROOT = Path(__file__).parent.parent

#: What needs sockets or processes, which a browser has not.
LEFT_OUT = (
    "harness/clusters/apiserver",
    "harness/clusters/control_plane",
    "harness/clusters/http",
    "harness/clusters/kind",
    "harness/clusters/remote",
    "harness/conformance",
    "harness/pytest_plugin",
    "fakeazure/commands",
)

#: What scenario files need besides the project: pydantic with its compiled core, fetched when a command asks for it.
SCENARIO_PACKAGES = ("pydantic", "annotated-types", "typing-extensions", "typing-inspection")

#: The Python in the browser, as pip names it (Pyodide 314).
PLATFORM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14")

_QUESTION = re.compile(r"^(?:# (?P<title>.+)|\*\*(?P<question>[^*]+\?)\*\*.*)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(root: Path = ROOT) -> list[dict[str, Any]]:
    """Returns the questions of the documentation, each with its files and the arguments of `harness` that answer it."""
    answers = root / "docs" / "answers"
    pages = [
        answers / name
        for name in re.findall(r"\]\(([\w-]+\.md)\)", (answers / "README.md").read_text(encoding="utf-8"))
    ]
    return [example for page in [*pages, root / "README.md"] for example in _of_page(page.read_text(encoding="utf-8"))]


def _of_page(text: str) -> Iterator[dict[str, Any]]:
    """Yields each question of a page that has commands which need nothing but the page's files."""
    starts = [*_QUESTION.finditer(text)]
    for at, start in enumerate(starts):
        part = text[start.end() : starts[at + 1].start() if at + 1 < len(starts) else len(text)]
        blocks = [*_BLOCK.finditer(part)]
        files = {
            block["name"]: block["text"] for block in blocks if block["language"] in ("yaml", "json") and block["name"]
        }
        commands = [
            line.removeprefix("$ harness ")
            for block in blocks
            if block["language"] == "console"
            for line in block["text"].splitlines()
            if line.startswith("$ harness ") and "|" not in line
        ]
        if commands:
            yield {"title": start["title"] or start["question"], "files": files, "commands": commands}


def write_parts(folder: Path) -> None:
    """Writes `examples.json` and the Python packages, not yet compiled, into a folder.

    Raises:
        CalledProcessError: pip found no compiled core of pydantic for the browser.
    """
    folder.mkdir(parents=True)
    page = {
        "examples": examples(),
        "releases": [*reversed(ALL_PROVIDER_RELEASES)],
        "regions": sorted(REGIONS),
        "release": DEFAULT_RELEASE,
        "region": "eastus",
    }
    (folder / "examples.json").write_text(json.dumps(page, ensure_ascii=False), encoding="utf-8")
    project = folder / "wheels" / "project"
    project.mkdir(parents=True)
    with zipfile.ZipFile(project / "project.whl", "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(
            path
            for package in ("harness", "fakeazure", "atomicfiles", "lazyrecords", "plainlines")
            for path in (ROOT / package).rglob("*")
        ):
            name = path.relative_to(ROOT)
            if (
                path.is_file()
                and "__pycache__" not in path.parts
                and not any(name.is_relative_to(out_) for out_ in LEFT_OUT)
            ):
                out.write(path, name)
    _copy_installed("PyYAML", project)
    scenario = folder / "wheels" / "scenario"
    scenario.mkdir()
    for name in SCENARIO_PACKAGES:
        _copy_installed(name, scenario)
    hashed = scenario.parent / "core.txt"
    hashed.write_text(_hashed_lines("pydantic-core"), encoding="utf-8")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([*pip, *PLATFORM, "--dest", str(scenario), "--require-hashes", "-r", str(hashed)], check=True)
    hashed.unlink()


def _hashed_lines(name: str) -> str:
    """Returns a package with its hashes, as `requirements/core.txt` has it. StopIteration where that has none."""
    lines = (ROOT / "requirements" / "core.txt").read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"{name}=="))
    end = next((at for at in range(start + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    return "\n".join(lines[start:end]) + "\n"


def _copy_installed(name: str, folder: Path) -> None:
    """Writes the Python files of an installed package; its compiled parts are for this machine and stay."""
    with zipfile.ZipFile(folder / f"{name}.whl", "w", zipfile.ZIP_DEFLATED) as out:
        for path in metadata.files(name) or ():
            if path.suffix in (".py", ".typed", "") and ".." not in path.parts and "__pycache__" not in path.parts:
                out.write(path.locate(), str(path))


def main(argv: Sequence[str] | None = None) -> int:
    """Writes what the playground is built from into a folder, which is emptied first. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.playground", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(argv).folder
    shutil.rmtree(folder, ignore_errors=True)
    try:
        write_parts(folder)
    except subprocess.CalledProcessError as error:
        print(f"playground: pip ended with {error.returncode}; see its message above", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
