"""The objects of files given to a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.cli.output import display_name
from harness.kube.api.kinds import served
from harness.reading.checkout import Checkout
from harness.reading.documents import read_stream, read_text
from harness.reading.manifests import Manifest, manifests_of_text
from harness.reading.problems import Problem, ScenarioError
from harness.reading.sources import files_in
from harness.scenario.language.core_objects import core_problems, field_problems, too_long
from harness.scenario.language.dumps import Dump, sorted_dump
from harness.scenario.language.kind_names import kind_mistake
from harness.scenario.language.sizes import size_problems
from harness.sniffing import is_scenario_text

__all__ = ["read_files"]

STDIN = Path("-")


def read_files(
    paths: Sequence[Path],
    others: Sequence[Manifest] = (),
    live: tuple[str, ...] = (),
    moment: str = "",
    unknown: list[Problem] | None = None,
    checkout: Checkout | None = None,
) -> Dump:
    """The objects of all files: of folders every YAML and JSON file, of `-` standard input; and others, of a live cluster.

    Fields that no release knows are mistakes; where `unknown` is given they are added to it instead, and stay in the objects.
    A file's object takes the place of one of the same name among the others. `checkout` is what links in
    folders may lead to. Raises ScenarioError with every mistake of all of them.
    """
    problems: list[Problem] = []
    read: list[tuple[Manifest, ...]] = []
    scenarios: list[str] = []
    for path in _files(paths, checkout, problems):
        try:
            name, text = _text(path)
            scenarios += [name] if is_scenario_text(text) else []
            read.append(manifests_of_text(text, name))
        except ScenarioError as error:
            problems += error.problems
    own = {manifest.identity for manifests in read for manifest in manifests}
    all_of_them = [manifest for manifest in others if manifest.identity not in own]
    all_of_them += [manifest for manifests in read for manifest in manifests]
    for manifest in all_of_them:
        if served(str(manifest.object["apiVersion"]), manifest.kind) is not None:
            problems += core_problems(manifest)
            problems += too_long(manifest)
            (problems if unknown is None else unknown).extend(field_problems(manifest))
        elif mistake := kind_mistake(manifest):
            problems.append(mistake)
    problems += size_problems(all_of_them)
    if problems:
        raise ScenarioError(problems)
    return sorted_dump(all_of_them, live, moment, tuple(scenarios))


def _files(paths: Sequence[Path], checkout: Checkout | None, problems: list[Problem]) -> Iterator[Path]:
    for path in paths:
        try:
            yield from files_in(path, display_name(path), checkout)
        except ScenarioError as error:
            problems += error.problems


def _text(path: Path) -> tuple[str, str]:
    """Return the name of a file for people, and its text. Raises ScenarioError."""
    name = "stdin" if path == STDIN else display_name(path)
    return name, read_stream(sys.stdin.buffer, name) if path == STDIN else read_text(path, name)
