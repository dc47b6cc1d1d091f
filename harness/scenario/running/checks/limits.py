"""`limits`: the documented limits of Karpenter that the described cluster breaks."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reading.problems import did_you_mean
from harness.scenario.language.cases import Entry
from harness.scenario.language.hosting import violations_of
from harness.scenario.language.models.outcomes import Limits
from harness.scenario.running.matching import Difference
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Limits, entry: Entry, run: Run) -> Iterator[Verdict]:
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
