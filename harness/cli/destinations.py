"""The destinations of a command's files: checked before there is anything to write, against all that the command reads."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.worlds import InputError
from harness.outputs import misplaced

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case

__all__ = ["check_outputs", "files_of", "named_inputs", "scenario_inputs"]

_READ = ("files", "file", "plan", "crds", "kept_differences", "expect", "controller", "kubeconfig")
"""Arguments that name files and folders that a command reads."""


def check_outputs(arguments: argparse.Namespace, *written: str, read: Iterable[Path] = ()) -> None:
    """Check the arguments that name a file to write: that it can be, that it is not one of those that are read, and each another one.

    `read`: what is read besides the files that arguments name. Raises InputError with a line for each mistake.
    """
    options = {f"--{name}": getattr(arguments, name, None) for name in written}
    outputs: dict[str, Path] = {option: path for option, path in options.items() if path is not None}
    if not outputs:
        return
    inputs = [*named_inputs(arguments), *read]
    mistakes: list[str] = []
    others: dict[str, str] = {}
    for option, path in outputs.items():
        if mistake := misplaced(path, inputs):
            mistakes.append(f"{option} {path}: {mistake}")
        place = os.path.realpath(path)
        if place in others and (os.path.isfile(place) or not os.path.exists(place)):
            mistakes.append(f"{option} {path}: {others[place]} writes to the same file")
        others.setdefault(place, option)
    if mistakes:
        raise InputError(*mistakes)


def named_inputs(arguments: argparse.Namespace) -> Iterator[Path]:
    """The files that arguments name, those of folders among them, and the kubeconfigs that are there in any case."""
    from harness.reading.checkout import Checkout
    from harness.reading.problems import ScenarioError
    from harness.reading.sources import files_below

    for name in _READ:
        value = getattr(arguments, name, None)
        for path in map(Path, [value] if isinstance(value, str | Path) else value or ()):
            yield path
            if path.is_dir():
                try:
                    yield from files_below(path, str(path), Checkout(None))
                except ScenarioError:  # it is told where they are read
                    continue
    yield from (Path(path) for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path)
    with suppress(RuntimeError):  # a user without a home, as containers have them
        yield Path.home() / ".kube" / "config"


def files_of(cases: Iterable[Case]) -> Iterator[Path]:
    """Yield the files of cases: their own, those of their manifests, and those that their steps and CRDs name."""
    named: dict[Path, None] = {}
    for case in cases:
        named[Path(case.file)] = None
        named |= dict.fromkeys(Path(manifest.document.position().file) for manifest in case.manifests)
        steps = [step for step in case.header.when if not isinstance(step, str)]
        names = [name for step in steps for name in step.apply or ()]
        folders = [name for name in (case.given.crds, *(step.crds for step in steps)) if name is not None]
        named |= dict.fromkeys(case.directory / name for name in names)
        for folder in folders:
            named |= dict.fromkeys(sorted((case.directory / folder).glob("*")))
    yield from named


def scenario_inputs(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that the scenario files among `paths` name; what is wrong with them is told where they are run."""
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.files import load
    from harness.sniffing import is_scenario_file

    for path in paths:
        try:
            if path.is_file() and is_scenario_file(path):
                yield from files_of(case for scenario in load(path, str(path)) for case in scenario.cases)
        except ScenarioError:
            continue
