"""Sources of manifests: a file, a folder, a text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from harness.reading.checkout import Checkout, linked_outside
from harness.reading.manifests import Manifest, manifests_of_text, read_manifests
from harness.reading.problems import Mark, Problem, ScenarioError

__all__ = ["MAX_ENTRIES", "Source", "files_below", "files_in", "is_manifest_name", "manifests_from"]

Source: TypeAlias = str | Path
"""A path, or YAML or JSON: a `str` of several lines, or one that begins with `{`, is text, any other a path."""

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
MAX_ENTRIES = 50_000
"""The number of files and folders below a folder that are looked at.

Manifests of a company have some thousands; a whole disk has no end.
"""


def is_manifest_name(name: str) -> bool:
    """Return whether a file has a name of manifests."""
    return Path(name).suffix in _SUFFIXES


def files_in(path: Path, name: str, checkout: Checkout | None = None) -> tuple[Path, ...]:
    """Return the file, wherever it is, or all that `files_below` returns. Raises ScenarioError as that does, and for an empty folder."""
    if not path.is_dir():
        return (path,)
    paths = files_below(path, name, checkout)
    if not paths:
        problem = "there is no file .yaml, .yml or .json in this directory"
        raise ScenarioError([Problem(Mark(name, 1, 1), "", problem)])
    return paths


def files_below(folder: Path, name: str, checkout: Checkout | None = None) -> tuple[Path, ...]:
    """All YAML and JSON files of a folder, called `name`, but of its hidden folders (`.git`, `.venv`).

    `checkout` holds the files that links among them may lead to; by default the one that the folder is in. Raises
    ScenarioError for one that leads out of it, for a part that cannot be read, and for a folder that holds too much to
    be one of manifests.
    """
    own = checkout or Checkout.around(folder)
    paths: list[Path] = []
    problems: list[Problem] = []
    seen = 0

    def unreadable(error: OSError) -> None:
        if isinstance(error, PermissionError):  # an entry that is gone meanwhile is not there
            place = Path(name) / Path(error.filename).relative_to(folder)
            problems.append(Problem(Mark(str(place), 1, 1), "", "cannot be read: permission denied"))

    for directory, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        seen += len(folders) + len(files)
        if seen > MAX_ENTRIES:
            problem = f"holds more than {MAX_ENTRIES:,} files and folders"
            raise ScenarioError([Problem(Mark(name, 1, 1), "", problem, "name the folders that hold the files")])
        for path in (Path(directory, file) for file in files if is_manifest_name(file)):
            if path.is_symlink() and not own.holds(path):
                problems.append(linked_outside(str(Path(name) / path.relative_to(folder))))
            elif path.is_file():
                paths.append(path)
    if problems:
        raise ScenarioError(problems)
    return tuple(sorted(paths))


def manifests_from(source: Source) -> Iterator[Manifest]:
    """The Kubernetes objects of a path or a text. Raises ScenarioError with every mistake of all files."""
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        yield from manifests_of_text(source, "text")
        return
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    for path in files_in(
        Path(source), str(source), Checkout(None)
    ):  # a program that names a folder has chosen its files
        try:
            manifests += read_manifests(path)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    yield from manifests
