"""The world that a case begins in, made from its `given`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.reading.problems import Problem, ScenarioError
from harness.scenario.language.cases import Case
from harness.scenario.language.crds import CrdDirectories
from harness.scenario.language.inputs import case_problems, world_arguments

if TYPE_CHECKING:
    from harness.world import Caches, World

__all__ = ["new_world", "world_inputs"]


def new_world(
    case: Case,
    caches: Caches | None = None,
    overrides: Mapping[str, Any] | None = None,
    directories: CrdDirectories | None = None,
    problems: Sequence[Problem] | None = None,
) -> World:
    """Return the world that a case begins in; a ScenarioError where its inputs do not exist. `directories` keeps CRD files that were read.

    `problems` are those of `case_problems` for the same arguments, where they are known.

    Raises harness.scenario.language.crds.CelEngineMissing.
    """
    from harness.world import World

    return World(**world_inputs(case, caches, overrides, directories, problems))


def world_inputs(
    case: Case,
    caches: Caches | None = None,
    overrides: Mapping[str, Any] | None = None,
    directories: CrdDirectories | None = None,
    problems: Sequence[Problem] | None = None,
) -> dict[str, Any]:
    """Return the arguments of that World. Raises as `new_world`."""
    replaced = dict(overrides or {})
    directories = directories or CrdDirectories()
    mistakes = list(case_problems(case, replaced, directories, caches)) if problems is None else problems
    if mistakes:
        raise ScenarioError(mistakes)
    arguments = {**world_arguments(case.given), **replaced}
    if case.given.crds is not None and "crds" not in replaced:
        arguments["crds"] = directories.named(case.given.crds, case.directory)
    return {**arguments, "caches": caches}
