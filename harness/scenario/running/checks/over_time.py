"""`eventually`, `always`, `never`: expectations that hold at some, every or no moment of a stretch of virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.moments import Always, Eventually, OverTime
from harness.scenario.running.moments import START, first, moment_text
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict
from harness.scenario.running.watches import Seen
from harness.wording import duration_text

__all__ = ["check"]


def check(body: OverTime, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict; a failure names the moment that decides."""
    start = START if body.from_ is None else first(body.from_, run)
    if start is None:
        assert body.from_ is not None
        yield Verdict.failed(entry.label, entry.mark("from"), moment_text(body.from_), "no such moment")
        return
    end, included = math.inf, True
    if body.within is not None:
        end = start.seconds + body.within
    elif body.until is not None:
        ending = first(body.until, run, start)
        if ending is None:
            yield Verdict.failed(
                entry.label, entry.mark("until"), moment_text(body.until), "no such moment from there on"
            )
            return
        end, included = ending.seconds, False
    stretches = run.watches[entry.label].seen
    counted = [
        stretch
        for stretch in stretches
        if (stretch.end > start.seconds or stretch is stretches[-1])
        and (stretch.start <= end if included else stretch.start < end)
    ]
    yield _verdict(body, entry, counted, start.seconds)


def _verdict(body: OverTime, entry: Entry, seen: list[Seen], start: float) -> Verdict:
    if not seen:
        return Verdict.failed(entry.label, entry.mark(), "a moment to look at", "there is none")
    if isinstance(body, Eventually):
        if any(not stretch.failed for stretch in seen):
            return Verdict(entry.label, entry.mark())
        return _failed(seen[-1], f"at no moment; the last, at {duration_text(max(seen[-1].start, start))}")
    if isinstance(body, Always):
        wrong = next((stretch for stretch in seen if stretch.failed), None)
        if wrong is None:
            return Verdict(entry.label, entry.mark())
        return _failed(wrong, f"at {duration_text(max(wrong.start, start))}")
    held = next((stretch for stretch in seen if not stretch.failed), None)
    if held is None:
        return Verdict(entry.label, entry.mark())
    return Verdict.failed(
        entry.label, entry.inner.mark(), "at no moment", f"it held at {duration_text(max(held.start, start))}"
    )


def _failed(seen: Seen, when: str) -> Verdict:
    """Return the verdict about a failed stretch, with the moment."""
    worst = seen.failed[0]
    differences = [
        replace(difference, note=f"{when}; {difference.note}" if difference.note else when)
        for difference in worst.differences
    ]
    return Verdict.compared(worst.label, worst.mark, differences)
