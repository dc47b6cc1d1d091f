"""`limits`: the documented limits of Karpenter that the described cluster breaks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from harness.karpenter.hosting import LIMITS
from harness.reading.problems import did_you_mean
from harness.scenario.expectations.failure import FailedExpectation
from harness.scenario.expectations.matching import Difference, as_written, show
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.hosting import violations_of
from harness.scenario.language.models.base import Body, Model, Text, no_items

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Limits", "check", "failure_lines"]


class Limits(Body):
    """Limits of Karpenter's concepts document that `given.cluster` breaks: exactly these."""

    violated: list[Text] = Field(default_factory=no_items, description="Broken, and still limits of this release.")
    outdated: list[Text] = Field(
        default_factory=no_items, description="Broken by the document's word, and no limits of this release any more."
    )


def check(body: Limits, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each list: the limits in it are broken, and no others."""
    from harness.karpenter.hosting import LIMITS

    limit_ids = {limit.id for limit in LIMITS}
    broken = list(violations_of(run.case.given))
    for name, wanted, holds in (("violated", body.violated, True), ("outdated", body.outdated, False)):
        seen = {violation.limit.id: violation.text for violation in broken if violation.holds is holds}
        differences = [
            Difference(
                "",
                f"{limit} broken",
                "not broken by given.cluster"
                if limit in limit_ids
                else f"no such limit; {did_you_mean(limit, limit_ids)}",
            )
            for limit in wanted
            if limit not in seen
        ]
        differences += [
            Difference("", "no other limit broken", limit, text) for limit, text in seen.items() if limit not in wanted
        ]
        yield Verdict.compared(f"{entry.label}.{name}", entry.mark(name), differences)


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the given cluster, the limits that it breaks, and the words of those that it does not."""
    given = failure.run.case.given
    cluster = given.cluster
    lines = [f"given.cluster: {_said(cluster)}, given.hosting: {given.hosting or 'self-hosted'}"]
    broken = list(violations_of(given))
    lines += [f"broken: {violation.limit.id}: {violation.text}" for violation in broken]
    wanted = {*failure.body.violated, *failure.body.outdated} - {violation.limit.id for violation in broken}
    for limit in LIMITS:
        if limit.id in wanted:
            lines.append(f"not broken: {limit.id} ({limit.field}): {limit.statement}: {limit.why}")
    return lines


def _said(cluster: Model | None) -> str:
    return "absent, so no limit is looked at" if cluster is None else show(as_written(cluster))
