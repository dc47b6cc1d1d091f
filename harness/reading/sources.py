"""Where manifests come from: a file, a folder, a text."""

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
"""Files and folders below a folder that are looked at. Manifests of a company have some thousands; a whole disk has no end."""


def is_manifest_name(name: str) -> bool:
    """Whether a file is called as manifests are."""
    return Path(name).suffix in _SUFFIXES


def files_in(path: Path, name: str, checkout: Checkout | None = None) -> tuple[Path, ...]:
    """The file, wherever it is, or all that `files_below` finds. Raises ScenarioError as that does, and for a folder without any."""
    if not path.is_dir():
        return (path,)
    found = files_below(path, name, checkout)
    if not found:
        what = "there is no file .yaml, .yml or .json in this directory"
        raise ScenarioError([Problem(Mark(name, 1, 1), "", what)])
    return found


def files_below(folder: Path, name: str, checkout: Checkout | None = None) -> tuple[Path, ...]:
    """All YAML and JSON files of a folder, called `name`, but of its hidden folders (`.git`, `.venv`).

    `checkout` is what links among them may lead to; by itself the one that the folder is in. Raises ScenarioError for one that leads out of
    it, for a part that cannot be read, and for a folder that holds too much to be one of manifests.
    """
    own = checkout or Checkout.around(folder)
    found: list[Path] = []
    problems: list[Problem] = []
    seen = 0

    def unreadable(error: OSError) -> None:
        if isinstance(error, PermissionError):  # what is gone meanwhile is not there
            place = Path(name) / Path(error.filename).relative_to(folder)
            problems.append(Problem(Mark(str(place), 1, 1), "", "cannot be read: permission denied"))

    for directory, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [one for one in folders if not one.startswith(".")]
        seen += len(folders) + len(files)
        if seen > MAX_ENTRIES:
            what = f"holds more than {MAX_ENTRIES:,} files and folders"
            raise ScenarioError([Problem(Mark(name, 1, 1), "", what, "name the folders that hold the files")])
        for path in (Path(directory, each) for each in files if is_manifest_name(each)):
            if path.is_symlink() and not own.holds(path):
                problems.append(linked_outside(str(Path(name) / path.relative_to(folder))))
            elif path.is_file():
                found.append(path)
    if problems:
        raise ScenarioError(problems)
    return tuple(sorted(found))


def manifests_from(source: Source) -> Iterator[Manifest]:
    """The Kubernetes objects of a path or a text. Raises ScenarioError with every mistake of all files."""
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        yield from manifests_of_text(source, "text")
        return
    found: list[Manifest] = []
    problems: list[Problem] = []
    for path in files_in(
        Path(source), str(source), Checkout(None)
    ):  # a program that names a folder has chosen what is in it
        try:
            found += read_manifests(path)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    yield from found
