"""The objects that a step applies."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reading.manifests import Manifest, read_manifests
from harness.reading.problems import ScenarioError
from harness.scenario.language.cases import Case
from harness.scenario.language.core_objects import core_problems, field_problems
from harness.scenario.language.sizes import size_problems

__all__ = ["applied_manifests"]


def applied_manifests(case: Case, name: str, *, own_crds: bool = True) -> Iterator[Manifest]:
    """Yield the objects that a step applies by this name: of the case, or of a file. Raises ScenarioError."""
    manifests = [manifest for manifest in case.manifests if manifest.is_named(name)]
    if manifests:
        yield from manifests
    else:
        manifests = list(read_manifests(case.directory / name))
        problems = [
            *size_problems(manifests),
            *(problem for manifest in manifests for problem in core_problems(manifest)),
        ]
        if not own_crds:
            problems += [problem for manifest in manifests for problem in field_problems(manifest)]
        if problems:
            raise ScenarioError(problems)
        yield from manifests
