"""`metric`: the values of Karpenter's metrics in the end."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import Metric
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Metric, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict."""
    try:
        value = run.world.metrics().value(body.name, **body.labels)
    except LookupError as error:
        yield Verdict.failed(f"{entry.label}.name", entry.mark("name"), body.name, str(error))
        return
    wrong = count_differences(body.value, round(value, 6))
    yield Verdict.compared(f"{entry.label}.value", entry.mark("value"), wrong)
