"""`runaway`: the same loop again and again, as the file expects it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.outcomes import Runaway
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Runaway, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict: that the world was stopped, and because of which label."""
    run.runaway_expected = True
    if not run.runaways:
        yield Verdict.failed(entry.label, entry.mark(), "a runaway", "the world came to rest")
        return
    runaway = run.runaways[0]
    compared = differences(body.key, runaway.fault or "no single label", "key") if body.key is not None else []
    compared += count_differences(body.loops, len(runaway.loops), "loops") if body.loops is not None else []
    yield Verdict.compared(entry.label, entry.mark(), compared)
