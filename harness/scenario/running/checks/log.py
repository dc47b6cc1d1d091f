"""`log`: the log lines of the controllers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import Log
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import differences, nearest_and_last, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

if TYPE_CHECKING:
    from harness.world.recorder import LogLine

__all__ = ["check"]


def check(body: Log, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict: that such a line was logged, or as many as expected."""
    log = run.log()
    fitting = [line for line in log if _fits(body, line)]
    if body.count is not None:
        yield Verdict.compared(entry.label, entry.mark("count"), count_differences(body.count, len(fitting)))
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    else:
        texts = [f"{line.level} {line.controller}: {line.message}" for line in log]
        note = nearest_and_last(
            texts,
            texts,
            " ".join(show(wanted_text) for wanted_text in (body.controller, body.message) if wanted_text is not None),
        )
        yield Verdict.failed(entry.label, entry.mark(), "such a line", f"none among {len(log)}", note)


def _fits(body: Log, line: LogLine) -> bool:
    if body.level not in (None, line.level) or body.controller not in (None, line.controller):
        return False
    if body.message is not None and any(differences(body.message, line.message, "message")):
        return False
    return all(
        name in line.values and not any(differences(wanted, str(line.values[name]), name))
        for name, wanted in body.values.items()
    )
