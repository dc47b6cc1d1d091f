"""`metric`: the values of Karpenter's metrics in the end."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.matching import count_differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Text, no_entries
from harness.scenario.language.models.matchers import NumberMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Metric", "check", "failure_lines"]


class Metric(Body):
    """One of Karpenter's metrics in the end: the sum of the series that have these labels (docs/reference/metrics.md)."""

    name: Text = Field(description="Its name, for example karpenter_nodeclaims_created_total.")
    labels: dict[Text, Text] = Field(default_factory=no_entries, description="Labels that its series have.")
    value: NumberMatch = Field(description="The sum; 0 without any series.")


def check(body: Metric, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict."""
    try:
        value = run.world.metrics().value(body.name, **body.labels)
    except LookupError as error:
        yield Verdict.failed(f"{entry.label}.name", entry.mark("name"), body.name, str(error))
        return
    wrong = count_differences(body.value, round(value, 6))
    yield Verdict.compared(f"{entry.label}.value", entry.mark("value"), wrong)


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the series of the metric, and what the trace has about the things that it counts."""
    name = failure.body.name
    try:
        series = [metric for metric in failure.run.world.metrics() if metric.name == name]
    except LookupError:  # Karpenter is somebody else
        series = []
    lines = listed([f"{metric} is {metric.value:g}" for metric in series], ITEMS, "series")
    if "disrupt" in name or "consolidation" in name:
        return [*lines, *failure.why.departures()]
    if "pods_count" in name:
        return [*lines, *failure.why.last_words()]
    return [*lines, *listed(failure.why.claims(), ITEMS, "NodeClaims")]
