"""The expectations: one module for each, with its model, its check, and the reasons of a failure.

``harness.scenario.language.models.expectations`` has a line for each key, which names the model with its module. A module is imported
when a file first has its key; it offers ``check(body, entry, run)``, which yields verdicts, and ``failure_lines(failure)``, which returns
the part of the run's story that explains a failed one. Models read their annotations when they are made, so these modules are without
``from __future__ import annotations``; what only reasons need is imported there.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry

if TYPE_CHECKING:
    from harness.scenario.expectations.failure import FailedExpectation
    from harness.scenario.running.run import Run

__all__ = ["check", "failure_lines"]


def check(entry: Entry, run: Run) -> list[Verdict]:
    """Return the verdicts of one entry of `then`: one, or one for each row of its tables; never none."""
    module = import_module(entry.expectation.home)
    verdicts: Iterable[Verdict] = module.check(entry.expectation.body, entry, run)
    return list(verdicts) or [Verdict.empty(entry.label, entry.mark())]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return all lines under one failed expectation."""
    module = import_module(failure.entry.expectation.home)
    lines: list[str] = module.failure_lines(failure)
    return lines
