"""The report as JSON: stable keys, for scripts and other reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.reading.problems import Mark, Problem, ScenarioError
from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport, Verdict
from plainlines import json_text

__all__ = ["case_value", "problems_value", "render", "summary_value"]


def summary_value(summary: Summary) -> dict[str, Any]:
    """The run as a JSON-shaped value."""
    return {
        "seconds": round(summary.seconds, 4),
        "counts": {outcome.value: count for outcome, count in summary.counts.items()},
        "expectations": summary.verdicts,
        "notes": list(summary.notes),
        "cases": [case_value(case) for case in summary.cases],
    }


def case_value(case: CaseReport) -> dict[str, Any]:
    """One case; `failures` holds what is not as expected."""
    value: dict[str, Any] = {
        "id": case.id,
        "outcome": case.outcome.value,
        "place": _place(case.mark),
        "seconds": round(case.seconds, 4),
        "expectations": len(case.verdicts),
        "failures": [_verdict(verdict) for verdict in case.failures],
    }
    if case.reason:
        value["reason"] = case.reason
    if case.error:
        value["error"] = case.error
    if case.trace:
        value["trace"] = case.trace
    if case.tags:
        value["tags"] = list(case.tags)
    return value


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "expectation": verdict.label,
        "place": _place(verdict.mark),
        "differences": [
            {
                "path": difference.path,
                "expected": difference.expected,
                "found": difference.actual,
                "note": difference.note,
            }
            for difference in verdict.differences
        ],
        "why": list(verdict.why),
    }


def _place(mark: Mark) -> dict[str, Any]:
    return {"file": mark.file, "line": mark.line, "column": mark.column}


def problems_value(error: ScenarioError) -> dict[str, Any]:
    """Mistakes in the input, for `--format json`."""
    return {"problems": [_problem(problem) for problem in error.problems]}


def _problem(problem: Problem) -> dict[str, Any]:
    return {"place": _place(problem.mark), "path": problem.path, "what": problem.what, "hint": problem.hint}


def render(value: Mapping[str, Any]) -> str:
    """The text of a value."""
    return json_text(value)
