"""A scenario file: its scenarios with their manifests, and each scenario's cases, ready to run.

`load` reads everything and reports everything: a file with five mistakes raises one ScenarioError with five problems.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.reading.checkout import Checkout, linked_outside
from harness.reading.documents import Document, documents, read_text
from harness.reading.manifests import Manifest, manifests_of
from harness.reading.problems import Mark, Problem, ScenarioError
from harness.scenario.language.cases import Case, Source, expanded
from harness.scenario.language.core_objects import field_problems
from harness.scenario.language.inputs import header_problems
from harness.scenario.language.manifest_files import ManifestFiles
from harness.scenario.language.models import Header
from lazyrecords import dataclass

__all__ = ["Scenario", "load", "load_text"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of a file with all of its cases."""

    name: str
    file: str
    mark: Mark
    cases: tuple[Case, ...]


def load(
    path: Path,
    file: str | None = None,
    *,
    release: str | None = None,
    header: type[Header] = Header,
    checkout: Checkout | None = None,
) -> tuple[Scenario, ...]:
    """The scenarios of a file. Raises ScenarioError with every mistake in it; `file` is the name to print.

    `release` is the provider's in place of the file's: a matrix of releases has then this one value.
    `header` is the model of headers: SweepHeader for a sweep's plan. `checkout` holds the files that it may name; by default the one
    that it lies in.
    """
    name = file or str(path)
    own = checkout or Checkout.around(path.parent)
    if path.is_symlink() and not own.holds(path):
        raise ScenarioError([linked_outside(name)])
    return load_text(
        read_text(path, name), file=name, directory=path.parent, release=release, header=header, checkout=own
    )


def load_text(
    text: str,
    *,
    file: str,
    directory: Path = Path("."),
    release: str | None = None,
    header: type[Header] = Header,
    checkout: Checkout | None = None,
) -> tuple[Scenario, ...]:
    """Return the scenarios of a text that is already read, as `load` does; `directory` is the folder of the files that it names."""
    read, problems = documents(text, file)
    if not read and not problems:
        problems.append(Problem(Mark(file, 1, 1), "", "the file is empty", "a scenario begins with 'scenario: NAME'"))
    groups: list[tuple[Document, list[Manifest]]] = []
    for document in read:
        if document.is_header:
            groups.append((document, []))
            continue
        manifests, issues = manifests_of(document, in_scenario=True)
        problems += issues
        if groups:
            groups[-1][1].extend(manifests)
        elif not issues:
            problems.append(_without_header(document.position(), file, header))
    scenarios: list[Scenario] = []
    names: dict[str, Mark] = {}
    checkout = checkout or Checkout.around(directory)
    source = Source(file, directory, ManifestFiles(file, directory, checkout), checkout, release, header)
    for document, manifests in groups:
        cases, issues = expanded(document, manifests, source)
        problems += issues
        name = document.value["scenario"]
        if isinstance(name, str):
            mark = document.position(("scenario",))
            if name in names:
                message = f"'{name}' is already the name of the scenario in line {names[name].line}"
                problems.append(Problem(mark, "scenario", message))
            names[name] = mark
            scenarios.append(Scenario(name, file, mark, tuple(cases)))
    if problems:
        problems = list(dict.fromkeys(problems))
        for document, manifests in groups:
            problems += header_problems(document, directory, checkout)
            if not _names_crds(document.value):  # else they may be files that have more fields
                problems += [problem for manifest in manifests for problem in field_problems(manifest)]
        if not any(_names_crds(document.value) for document, _ in groups):
            problems += [problem for manifest in source.files.all() for problem in field_problems(manifest)]
        raise ScenarioError(problems)
    return tuple(scenarios)


def _names_crds(value: Any) -> bool:
    if isinstance(value, dict):
        return "crds" in value or any(map(_names_crds, value.values()))
    return isinstance(value, list) and any(map(_names_crds, value))


def _without_header(mark: Mark, file: str, header: type[Header]) -> Problem:
    """Return the problem of a file of manifests where a scenario is expected, or the plan of a sweep, which names such a file."""
    if header is Header:
        return Problem(mark, "", "a manifest stands before the first scenario", "begin the file with 'scenario: NAME'")
    plan = f"scenario: NAME, given: {{manifests: [{Path(file).name}]}}, matrix: {{region: [eastus, westeurope]}}"
    return Problem(Mark(file, 1, 1), "", "a manifest is no plan", f"a plan is a file that names it: {plan}")
