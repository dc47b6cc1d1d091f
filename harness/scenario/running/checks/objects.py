"""`objects`: any object of the cluster, by name or by kind."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import Objects
from harness.scenario.running.checks.counts import count_differences, wants_none
from harness.scenario.running.matching import differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Objects, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict: the object matches, or as many of its kind do as expected."""
    if body.of is not None:
        present = run.find(body.of)
        if wants_none(body.count):
            differing = count_differences(0, 0 if present is None else 1)
            yield Verdict.compared(entry.label, entry.mark("count"), differing)
        elif present is None:
            yield Verdict.failed(entry.label, entry.mark("of"), body.of, "no such object")
        else:
            yield Verdict.compared(entry.label, entry.mark("match"), differences(body.match or {}, present))
        return
    objects = [
        candidate
        for candidate in run.world.list(body.kind or "")
        if body.labels.items() <= (candidate["metadata"].get("labels") or {}).items()
    ]
    compared = [(obj, differences(body.match or {}, obj)) for obj in objects]
    fitting = [candidate for candidate, differing in compared if not differing]
    if body.count is not None:
        yield Verdict.compared(entry.label, entry.mark("count"), count_differences(body.count, len(fitting)))
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    elif not compared:
        yield Verdict.failed(entry.label, entry.mark("kind"), f"a {body.kind}", "none")
    else:
        nearest, differing = min(compared, key=lambda pair: len(pair[1]))
        yield Verdict.compared(
            entry.label,
            entry.mark("match"),
            [
                type(difference)(
                    difference.path, difference.expected, difference.actual, f"nearest: {nearest['metadata']['name']}"
                )
                for difference in differing
            ],
        )
