"""What a case comes to in memory, on the Kubernetes of the clusters: asked before it runs on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner

__all__ = ["Foreseen"]


class Foreseen:
    """Asks a Runner of its own, made when it is first needed."""

    def __init__(self, new_runner: Callable[[], Runner]) -> None:
        self._new_runner = new_runner
        self._made: Runner | None = None

    @property
    def _runner(self) -> Runner:
        if self._made is None:
            self._made = self._new_runner()
        return self._made

    def holds(self, case: Case) -> bool:
        """Return whether what the case expects holds for the clusters' version, too."""
        from harness.reading.problems import ScenarioError
        from harness.scenario.running.verdicts import Outcome

        try:
            came = self._runner.run(case).outcome
        except ScenarioError:  # a step finds nothing to act on
            return False
        return came not in (Outcome.FAILED, Outcome.ERROR, Outcome.UNEXPECTED_PASS)

    def of_one_seed(self, case: Case) -> Case:
        """The case under a seed for which it holds, where it is meant to hold for some only; else the case."""
        if case.seeds is None or case.seeds.hold != "some":
            return case
        each = map(case.seeded, range(case.seeds.count))
        return next((one for one in each if all(verdict.holds for verdict in self._runner.examine(one)[1])), case)
