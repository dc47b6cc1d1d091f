"""`cost`: the price of the machines that run in the end."""

from __future__ import annotations

from collections.abc import Iterator

from harness.explain.price import price_per_hour
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.expectations import Cost
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Cost, entry: Entry, run: Run) -> Iterator[Verdict]:
    """One verdict."""
    found = count_differences(body.per_hour, round(price_per_hour(run.world), 6))
    yield Verdict.of(f"{entry.label}.perHour", entry.mark("perHour"), found)
