"""The report for a terminal: what failed, where in the file, expected beside found; one line for the rest."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport, Outcome, Verdict
from lazyrecords import dataclass
from plainlines import joined, printable

__all__ = ["Style", "render_case", "render_summary", "render_verdict"]

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
_COLOURS = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.ERROR: "red",
    Outcome.SKIPPED: "yellow",
    Outcome.EXPECTED_FAILURE: "yellow",
    Outcome.UNEXPECTED_PASS: "red",
}


@dataclass(frozen=True, slots=True)
class Style:
    """The choice of colour."""

    colour: bool = False

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, or as it is."""
        return f"\033[{_CODES[colour]}m{text}\033[0m" if self.colour else text


PLAIN = Style()
_WIDTH = 400


def _cut(line: str) -> str:
    line = printable(line)
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}… ({len(line)} characters)"


def render_verdict(verdict: Verdict, style: Style = PLAIN) -> str:
    """One failed comparison: its place and name, then every difference, and how it came to that."""
    lines = [f"{style.paint(printable(str(verdict.mark)), 'bold')}: {printable(verdict.label)}"]
    for difference in verdict.differences:
        place = f"{difference.path}: " if difference.path else ""
        lines.append(style.paint(printable(f"    expected  {place}{difference.expected}"), "green"))
        first, *rest = (difference.actual or "nothing").split("\n")
        lines.append(style.paint(_cut(f"    found     {place}{first}"), "red"))
        lines += [style.paint(_cut(f"              {line}"), "red") for line in rest]
        if difference.note:
            lines.append(style.paint(_cut(f"              {difference.note}"), "dim"))
    for number, line in enumerate(verdict.why):
        lines.append(style.paint(_cut(f"    {'' if number else 'why':9} {line}"), "dim"))
    return "\n".join(lines)


def render_case(case: CaseReport, style: Style = PLAIN, *, verbose: bool = False) -> str:
    """One case: a line, and below it whatever is not as expected; with `verbose` every verdict."""
    return "\n".join(_lines(case, style, verbose))


def _lines(case: CaseReport, style: Style, verbose: bool) -> Iterator[str]:
    outcome = style.paint(case.outcome.value.upper(), _COLOURS[case.outcome])
    reason = printable(f": {case.reason}") if case.reason else ""
    yield f"{outcome} {printable(case.id)} ({case.seconds * 1000:.0f} ms){reason}"
    for line in joined(case.error.split("\n")).split("\n") if case.error else ():
        yield f"  {style.paint(line, 'red')}"
    if case.outcome is Outcome.UNEXPECTED_PASS:
        yield "  it is marked xfail and passes: remove the mark"
    for verdict in case.verdicts:
        if not verdict.holds:
            yield "  " + render_verdict(verdict, style).replace("\n", "\n  ")
        elif verbose:
            yield f"  {style.paint('ok', 'green')} {printable(verdict.label)}"


def render_summary(summary: Summary, style: Style = PLAIN) -> str:
    """The last line: `12 passed, 1 failed (57 expectations) in 0.21 s`."""
    parts = [style.paint(f"{count} {outcome}", _COLOURS[outcome]) for outcome, count in summary.counts.items()]
    counted = ", ".join(parts) or "no scenarios"
    return f"{counted} ({summary.verdicts} expectations) in {summary.seconds:.2f} s"
