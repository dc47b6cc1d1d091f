"""`cost`: the price of the machines that run in the end."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import Cost
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Cost, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict about the end, and one about the state before."""
    wrong = count_differences(body.per_hour, round(run.world.cost(), 6))
    yield Verdict.compared(f"{entry.label}.perHour", entry.mark("perHour"), wrong)
    if body.before is not None:
        if run.cost_before is None:
            yield Verdict.failed(f"{entry.label}.before", entry.mark("before"), "a step advance", "there is none")
        else:
            wrong = count_differences(body.before, round(run.cost_before, 6))
            yield Verdict.compared(f"{entry.label}.before", entry.mark("before"), wrong)
