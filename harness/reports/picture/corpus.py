"""The page of a run: what is not as expected first, then every case by file, by tag or by duration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.reports.as_json import case_value, summary_value
from harness.reports.picture.labels import source_words
from harness.reports.picture.packing import EACH, packs
from harness.reports.picture.page import page
from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport

__all__ = ["corpus_page", "corpus_value"]


def corpus_page(summary: Summary, worlds: Mapping[int, Mapping[str, Any]] | None = None, unpictured: str = "") -> str:
    """The document of a run.

    `worlds` are the pictures (world_value) of some of its cases, by position; `unpictured` says why others have none.
    """
    counted = ", ".join(f"{count} {outcome}" for outcome, count in summary.counts.items()) or "no scenarios"
    return page(f"Scenarios: {counted}", corpus_value(summary, worlds or {}) | {"unpictured": unpictured})


def corpus_value(summary: Summary, worlds: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON of the run as `--format json` prints it; each case with the names of what holds, and the number of its picture, too.

    Many pictures are `packed`.
    """
    numbers = {position: number for number, position in enumerate(sorted(worlds))}
    gists = {position: world["gist"] for position, world in worlds.items()}
    cases = [
        _case(case, numbers.get(position)) | ({"gist": gists[position]} if gists.get(position) else {})
        for position, case in enumerate(summary.cases)
    ]
    drawn = [worlds[position] for position in numbers]
    many = len(drawn) > EACH
    return {
        "page": "run",
        **summary_value(summary),
        "cases": cases,
        "worlds": [] if many else drawn,
        **({"packed": {"packs": packs(drawn), "each": EACH}} if many else {}),
        **({"sources": source_words()} if worlds else {}),
    }


def _case(case: CaseReport, world: int | None) -> dict[str, Any]:
    held = [verdict.label for verdict in case.verdicts if verdict.holds]
    return {**case_value(case), "held": held, **({"world": world} if world is not None else {})}
