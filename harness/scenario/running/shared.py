"""Parts that the cases of a run share: untouched worlds for questions that change nothing, and label probes, both by their inputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness.latest import LatestOf
from harness.reading.problems import Problem, ScenarioError
from harness.scenario.language.cases import Case
from harness.scenario.language.core_objects import field_problems
from harness.scenario.language.crds import CrdDirectories
from harness.scenario.language.inputs import case_problems, world_arguments
from harness.scenario.language.models.steps import StepMap
from harness.scenario.running.worlds import new_world

if TYPE_CHECKING:
    from harness.explain.labels.probes import LabelProbe
    from harness.world import Caches, World

__all__ = ["Shared"]

_CASES = 8192
"""The number of cases whose problems are kept."""
_PROBED = ("NodePool", "AKSNodeClass")


class Shared:
    """The shared parts of one run. `overrides` replace inputs of all cases."""

    def __init__(self, caches: Caches | None = None, overrides: Mapping[str, Any] | None = None) -> None:
        self.overrides = dict(overrides or {})
        self.crd_directories = CrdDirectories()
        self._caches = caches
        self._problems: LatestOf[Case, tuple[Problem, ...]] = LatestOf(_CASES)
        self._worlds: dict[str, World] = {}
        self._probes: dict[str, LabelProbe] = {}

    @property
    def caches(self) -> Caches:
        """The catalogue and the instance types of all worlds of the run."""
        if self._caches is None:
            from harness.world import Caches

            self._caches = Caches()
        return self._caches

    def new_world(self, case: Case) -> World:
        """Return a world of a case's own. Raises ScenarioError where its inputs do not exist."""
        return self._new_world(case, self.overrides)

    def _new_world(self, case: Case, overrides: Mapping[str, Any]) -> World:
        return new_world(case, self.caches, overrides, self.crd_directories, self._problems_of(case, overrides))

    def _problems_of(self, case: Case, overrides: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return the problems of a case's inputs.

        A case never changes, nor do these overrides, the catalogue and the CRDs that were read; so the problems that were found when its
        file was read hold for each of its worlds.
        """
        return self._problems.of(
            case,
            lambda: tuple(case_problems(case, overrides, self.crd_directories, self._caches)),
            "cluster" in overrides,
        )

    def _in_memory(self, case: Case) -> World:
        """Return a world in memory for questions: a real cluster belongs to one world at a time, and the scenario's own may be on it."""
        overrides = {name: value for name, value in self.overrides.items() if name != "cluster"}
        return self._new_world(case, overrides)

    def idle_world(self, case: Case) -> World:
        """An empty world with the inputs of a case, for questions only. Raises ScenarioError where its inputs do not exist."""
        key = _key(case)
        world = self._worlds.get(key)
        if world is None:
            world = self._worlds[key] = self._in_memory(case)
        return world

    def check_inputs(self, cases: Iterable[Case]) -> None:
        """Raise ScenarioError for every release, region, size, option or state of Azure that does not exist."""
        problems: set[Problem] = set()
        for case in cases:
            problems.update(self._problems_of(case, self.overrides))
            if not self.own_crds(case):
                refused = case.refused
                accepted = (
                    manifest for manifest in case.manifests if not any(manifest.is_named(name) for name in refused)
                )
                problems.update(problem for manifest in accepted for problem in field_problems(manifest))
        if problems:
            raise ScenarioError(problems)

    def own_crds(self, case: Case) -> bool:
        """Return whether CRD files of a user judge a case's objects at some time, rather than a release's."""
        replaced = self.overrides.get("crds")
        if replaced is not None:
            return not isinstance(replaced, str)
        steps = (step.crds for step in case.header.when if isinstance(step, StepMap))
        named = [name for name in (case.given.crds, *steps) if name is not None]
        return any((case.directory / name).is_dir() for name in named)

    def probe(self, case: Case) -> LabelProbe:
        """The label probe of a case's inputs, NodePools and AKSNodeClasses."""
        from harness.explain.labels.probes import LabelProbe

        objects = [manifest.object for manifest in case.manifests if manifest.kind in _PROBED]
        key = _key(case) + json.dumps(objects, default=str)
        probe = self._probes.get(key)
        if probe is None:
            probe = self._probes[key] = LabelProbe(lambda: self._in_memory(case), objects)
        return probe


def _key(case: Case) -> str:
    directory = str(case.directory) if case.given.crds is not None else ""  # the folder in which CRD files are named
    return json.dumps([world_arguments(case.given), directory], sort_keys=True, default=str)
