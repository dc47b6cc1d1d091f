"""`runaway`: the same loop again and again, as the file expects it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from harness.scenario.expectations.matching import count_differences, differences
from harness.scenario.expectations.nodeclaims import claim_lines, made_in_loops
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Text
from harness.scenario.language.models.matchers import CountMatch

if TYPE_CHECKING:
    from harness.scenario.expectations.failure import FailedExpectation
    from harness.scenario.running.run import Run

__all__ = ["Runaway", "check", "failure_lines"]


class Runaway(Body):
    """A world that never comes to rest: Nodes are made again and again for pods that they do not help."""

    key: Text | None = Field(None, description="The label key at fault.")
    loops: CountMatch | None = Field(None, description="How many loops were seen before it was stopped.")


def check(body: Runaway, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: that the world was stopped, and because of which label."""
    run.runaway_expected = True
    if not run.runaways:
        yield Verdict.failed(entry.label, entry.mark(), "a runaway", "the world came to rest")
        return
    runaway = run.runaways[0]
    compared = differences(body.key, runaway.fault or "no single label", "key") if body.key is not None else []
    compared += count_differences(body.loops, len(runaway.loops), "loops") if body.loops is not None else []
    yield Verdict.compared(entry.label, entry.mark(), compared)


def failure_lines(failure: "FailedExpectation") -> list[str]:
    """Return the NodeClaims that were made in the loops, and where there are none, why pods wait."""
    return claim_lines(failure, made_in_loops(failure.run))
