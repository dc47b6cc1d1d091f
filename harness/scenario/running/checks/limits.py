"""`limits`: which documented limits of Karpenter the described cluster breaks."""

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
    """One verdict for each list: the limits in it are broken, and no others."""
    from harness.karpenter.hosting import LIMITS

    known = {limit.id for limit in LIMITS}
    found = list(violations_of(run.case.given))
    for name, wanted, holds in (("violated", body.violated, True), ("outdated", body.outdated, False)):
        seen = {one.limit.id: one.text for one in found if one.holds is holds}
        differences = [
            Difference(
                "",
                f"{limit} broken",
                "not broken by given.cluster" if limit in known else f"no such limit; {did_you_mean(limit, known)}",
            )
            for limit in wanted
            if limit not in seen
        ]
        differences += [
            Difference("", "no other limit broken", limit, text) for limit, text in seen.items() if limit not in wanted
        ]
        yield Verdict.of(f"{entry.label}.{name}", entry.mark(name), differences)
