"""`cost`: the price of the machines that run in the end."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from harness.scenario.expectations.azure import NO_MACHINE
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.matching import count_differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body
from harness.scenario.language.models.matchers import NumberMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Cost", "check", "failure_lines"]


class Cost(Body):
    """The costs of the Nodes that exist in the end."""

    per_hour: NumberMatch = Field(description="USD per hour.")
    before: NumberMatch | None = Field(None, description="USD per hour before the first `advance`.")


def check(body: Cost, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict about the end, and one about the state before."""
    wrong = count_differences(body.per_hour, round(run.world.cost(), 6))
    yield Verdict.compared(f"{entry.label}.perHour", entry.mark("perHour"), wrong)
    if body.before is not None:
        if run.cost_before is None:
            yield Verdict.failed(f"{entry.label}.before", entry.mark("before"), "a step advance", "there is none")
        else:
            wrong = count_differences(body.before, round(run.cost_before, 6))
            yield Verdict.compared(f"{entry.label}.before", entry.mark("before"), wrong)


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the cost after each change, every machine, and cheaper offerings that were refused."""
    machines = failure.why.machines()
    if not machines:
        return [NO_MACHINE, *failure.why.refusals()]
    return [
        *listed(failure.why.costs(), ITEMS // 2, "changes"),
        *listed(machines, ITEMS, "machines"),
        *failure.why.refusals(),
    ]
