"""Where manifests come from: a file, a folder, a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from harness.reading.manifests import Manifest, manifests_of_text, read_manifests
from harness.reading.problems import Mark, Problem, ScenarioError

__all__ = ["Source", "files_in", "is_manifest_name", "manifests_from"]

Source: TypeAlias = str | Path
"""A path, or YAML or JSON: a `str` of several lines, or one that begins with `{`, is text, any other a path."""

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def is_manifest_name(name: str) -> bool:
    """Whether a file is called as manifests are."""
    return Path(name).suffix in _SUFFIXES


def files_in(path: Path, name: str) -> tuple[Path, ...]:
    """The file, or all YAML and JSON files of a folder, called `name`. Raises ScenarioError for a folder without any."""
    if not path.is_dir():
        return (path,)
    inside = tuple(sorted(one for one in path.rglob("*") if is_manifest_name(one.name) and one.is_file()))
    if not inside:
        what = "there is no file .yaml, .yml or .json in this directory"
        raise ScenarioError([Problem(Mark(name, 1, 1), "", what)])
    return inside


def manifests_from(source: Source) -> Iterator[Manifest]:
    """The Kubernetes objects of a path or a text. Raises ScenarioError with every mistake of all files."""
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        yield from manifests_of_text(source, "text")
        return
    found: list[Manifest] = []
    problems: list[Problem] = []
    for path in files_in(Path(source), str(source)):
        try:
            found += read_manifests(path)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    yield from found
