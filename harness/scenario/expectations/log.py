"""`log`: the log lines of the controllers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.scenario.expectations.failure import ITEMS, FailedExpectation, fits, texts_by_count
from harness.scenario.expectations.matching import count_differences, differences, nearest_and_last, show
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Text, no_entries
from harness.scenario.language.models.matchers import CountMatch, TextMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run
    from harness.trace.facts import LogTold
    from harness.world.recorder import LogLine

__all__ = ["Log", "check", "failure_lines"]


class Log(Body):
    """Lines that the controllers logged."""

    message: TextMatch | None = Field(None, description="Message.")
    level: Literal["debug", "info", "error"] | None = Field(None, description="Level.")
    controller: Text | None = Field(None, description="The controller that logged it.")
    values: dict[Text, TextMatch] = Field(default_factory=no_entries, description="Values logged with it, by name.")
    count: CountMatch | None = Field(None, description="How many; at least one when absent.")


def check(body: Log, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: that such a line was logged, or as many as expected. None where nothing is expected."""
    if body.is_empty:
        return
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


def _fits(body: Log, line: "LogLine") -> bool:
    if body.level not in (None, line.level) or body.controller not in (None, line.controller):
        return False
    if body.message is not None and any(differences(body.message, line.message, "message")):
        return False
    return all(
        name in line.values and not any(differences(wanted, str(line.values[name]), name))
        for name, wanted in body.values.items()
    )


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return lines that fit in part, nearest first; where none does, all messages, counted."""
    body = failure.body
    conditions = {"message": body.message, "level": body.level, "controller": body.controller}
    for wanted in (conditions, {"message": body.message}, {"controller": body.controller}):
        if any(value is not None for value in wanted.values()):

            def suits(line: "LogTold", wanted: Mapping[str, object] = wanted) -> bool:
                return fits(wanted, line)

            lines = failure.why.log(suits)
            if lines:
                return listed(lines, ITEMS, "lines")
    return texts_by_count("lines", failure.why.log_messages()) or ["nothing was logged"]
