"""`cost`: the price of the machines that run in the end."""

from __future__ import annotations

from collections.abc import Iterator

from harness.explain.price import price_per_hour
from harness.scenario.cases import Entry
from harness.scenario.checks.counts import count_differences
from harness.scenario.models.expectations import Cost
from harness.scenario.run import Run
from harness.scenario.verdicts import Verdict

__all__ = ["check"]


def check(body: Cost, entry: Entry, run: Run) -> Iterator[Verdict]:
    """One verdict."""
    found = count_differences(body.per_hour, round(price_per_hour(run.world), 6))
    yield Verdict.of(f"{entry.label}.perHour", entry.mark("perHour"), found)
