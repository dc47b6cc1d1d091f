"""Findings and runs as Markdown, for the summary of a CI job and for comments on pull requests.

Text of an input stands in code spans: nobody is mentioned there, no link and no HTML begins in it (GitHub Flavored Markdown, 6.1). A
comment on GitHub has at most 65,536 characters, so that long lists and long texts are cut and say so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.explain.traces.group_texts import value_of, whom
from harness.explain.traces.grouping import Group
from harness.reports.annotations import Annotation
from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport, Outcome
from plainlines import printable

__all__ = ["code", "comparison", "findings", "run", "table"]

_ROWS = 50
"""Rows of a table before the rest is only counted."""
_CELL = 300
"""Characters of one text before it is cut."""
_BACKTICKS = re.compile("`+")


def code(text: str) -> str:
    """Return the text as a code span that can stand in a table."""
    line = printable(text).strip()
    if len(line) > _CELL:
        line = f"{line[:_CELL]}…"
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}".replace("|", "\\|")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; rows beyond a bound are counted below it."""
    lines = [heads, ["---"] * len(heads), *rows[:_ROWS]]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"{text}\n{len(rows) - _ROWS} more.\n" if len(rows) > _ROWS else text


def findings(raised: Sequence[Annotation]) -> str:
    """Return findings as a table with their places, or a line where there are none."""
    if not raised:
        return "Nothing to say: no findings.\n"
    rows = [
        [
            annotation.level,
            "" if annotation.mark is None else code(str(annotation.mark)),
            code(annotation.rule),
            code(annotation.text),
        ]
        for annotation in raised
    ]
    return table(("level", "place", "rule", "text"), rows)


def comparison(opening: Sequence[str], summary: str, notes: Sequence[str], groups: Sequence[Group]) -> str:
    """Return a comparison in some ten lines: its figures and how much else differs; below them, folded, the rest.

    Lines of `opening` that are indented belong to the one before, and are part of the rest.
    """
    lines = [f"- {code(line)}" for line in opening if not line.startswith(" ")]
    lines += [f"- {code(line)}" for line in (summary, *notes) if line]
    more = [f"- {code(line)}" for line in opening if line.startswith(" ")]
    text = "\n".join(("**What it comes to, before → after**", "", *lines, ""))
    rows = [
        [group.change, code(group.what), code(whom(group)), code(value_of(group))]
        for group in groups
        if not group.follows
    ]
    if not rows and not more:
        return text
    # the empty lines make what stands between the tags Markdown again (GitHub Flavored Markdown, 4.6)
    folded = ("\n".join((*more, "", "")) if more else "") + (
        table(("change", "what", "of", "values"), rows) if rows else ""
    )
    return f"{text}\n<details><summary>all that differs</summary>\n\n{folded}\n</details>\n"


def run(summary: Summary) -> str:
    """Return a run of scenarios: how many cases ended how, and a row for each comparison that does not hold."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in summary.counts.items()) or "no scenarios"
    mark = "❌" if summary.bad else "✅"
    head = f"{mark} **{counts}** ({summary.verdicts} expectations)\n"
    if summary.notes:
        head += "".join(("\n", *(f"- {code(note)}\n" for note in summary.notes)))
    rows = [row for case in summary.bad for row in _rows(case)]
    return f"{head}\n{table(('case', 'place', 'expected', 'found'), rows)}" if rows else head


def _rows(case: CaseReport) -> list[list[str]]:
    if case.outcome is Outcome.UNEXPECTED_PASS:
        return [[code(case.name), code(str(case.mark)), "a failure, by its mark xfail", "it passes"]]
    if case.outcome is Outcome.ERROR:
        return [[code(case.name), code(str(case.mark)), "a case that can run", code(case.error)]]
    return [
        [
            code(case.name),
            code(str(verdict.mark)),
            code(": ".join(filter(None, (difference.path, difference.expected)))),
            code(": ".join(filter(None, (difference.path, difference.actual or "nothing")))),
        ]
        for verdict in case.failures
        for difference in verdict.differences
    ]
