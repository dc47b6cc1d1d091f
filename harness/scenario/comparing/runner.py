"""Runs cases under both Karpenters where a Runner would run them under one: a case that agrees has passed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.scenario.comparing.comparison import Comparison, Result
from harness.scenario.comparing.kept import KeptDifferences
from harness.scenario.comparing.limit import REAL_LIMIT
from harness.scenario.comparing.real_runs import RealRuns
from harness.scenario.expectations.verdicts import CaseReport, Outcome, Verdict

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner

__all__ = ["ComparingRunner"]


class ComparingRunner:
    """Runs each case under both Karpenters, and reports as `Runner.run` does; `found` are the comparisons so far. Close it."""

    def __init__(
        self, runner: Runner, binaries: Mapping[str, Path], kept_differences: KeptDifferences, limit: float = REAL_LIMIT
    ) -> None:
        shared = runner.shared
        self._runs = RealRuns(
            shared.caches, binaries, kept_differences, shared.overrides, tracing=runner.tracing, limit=limit
        )
        self.found: list[Comparison] = []

    def close(self) -> None:
        """Remove the shared folder of comparisons."""
        self._runs.close()

    def run(self, case: Case) -> CaseReport:
        """Run one case under both. Raises ScenarioError for bad input, ClusterFailed where a controller died."""
        compared = self._runs.compare(case)
        self.found.append(compared)
        outcome, reason = Outcome.PASSED, ""
        if compared.result is Result.DIFFER:
            outcome = Outcome.FAILED
        elif compared.result is not Result.AGREE:
            outcome, reason = Outcome.SKIPPED, f"{compared.result}: {compared.reason}"
        verdicts = tuple(
            Verdict.failed(difference.fact, case.mark, str(difference.simulated), str(difference.real))
            for difference in compared.differences
            if not difference.kept
        )
        tags = tuple(case.header.tags)
        return CaseReport(
            case.name, case.file, case.mark, outcome, verdicts, reason, seconds=compared.seconds, tags=tags
        )
