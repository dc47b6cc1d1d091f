"""The page of a run: what is not as expected first, then every case by file, by tag or by duration."""

from __future__ import annotations

from typing import Any

from harness.reports.as_json import case_value, summary_value
from harness.reports.picture.page import page
from harness.reports.summary import Summary
from harness.scenario.running.verdicts import CaseReport

__all__ = ["corpus_page", "corpus_value"]


def corpus_page(summary: Summary) -> str:
    """The document of a run."""
    counted = ", ".join(f"{count} {outcome}" for outcome, count in summary.counts.items()) or "no scenarios"
    return page(f"Scenarios: {counted}", corpus_value(summary))


def corpus_value(summary: Summary) -> dict[str, Any]:
    """The JSON of the run as `--format json` prints it; each case with the names of what holds, too."""
    return {"page": "run", **summary_value(summary), "cases": [_case(case) for case in summary.cases]}


def _case(case: CaseReport) -> dict[str, Any]:
    return {**case_value(case), "held": [verdict.label for verdict in case.verdicts if verdict.holds]}
