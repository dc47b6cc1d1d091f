"""`elapsed`: the virtual time between two moments."""

from __future__ import annotations

from collections.abc import Iterator

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.moments import Elapsed
from harness.scenario.running.matching import differences
from harness.scenario.running.moments import START, first, moment_text
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: Elapsed, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict: the time between both moments."""
    start = START if body.from_ is None else first(body.from_, run)
    if start is None:
        assert body.from_ is not None
        yield Verdict.failed(entry.label, entry.mark("from"), moment_text(body.from_), "no such moment")
        return
    end = first(body.to, run, start)
    if end is None:
        yield Verdict.failed(entry.label, entry.mark("to"), moment_text(body.to), "no such moment from there on")
        return
    seconds = round(end.seconds - start.seconds, 6)
    yield Verdict.compared(entry.label, entry.mark("takes"), differences(body.takes, seconds, "seconds"))
