"""The reports of `harness run`: every case that was asked for is in each of them, also one that could not run or did not come to it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import colour, print_json
from harness.outputs import write_text
from plainlines import print_document, print_lines

if TYPE_CHECKING:
    from harness.reading.problems import Problem, ScenarioError
    from harness.reports.summary import Summary
    from harness.scenario.expectations.verdicts import CaseReport
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner

__all__ = ["case_text", "left_out", "print_summary", "write_pages", "write_unread"]


def left_out(
    cases: Sequence[Case], reports: Mapping[int, CaseReport], why: str, *, chosen: bool
) -> dict[int, CaseReport]:
    """Return the reports of the cases that have none since the run ended before: skipped where that was `chosen`, else errors."""
    from harness.scenario.expectations.verdicts import CaseReport, Outcome

    outcome = Outcome.SKIPPED if chosen else Outcome.ERROR
    text = f"not run: {why}"
    return {
        number: CaseReport(
            case.name,
            case.file,
            case.mark,
            outcome,
            reason=text if chosen else "",
            error="" if chosen else text,
            tags=tuple(case.header.tags),
        )
        for number, case in enumerate(cases)
        if number not in reports
    }


def write_pages(
    arguments: argparse.Namespace,
    summary: Summary,
    cases: Sequence[Case],
    runner: Runner,
    reports: Mapping[int, CaseReport],
) -> None:
    """Write the files that `--junit`, `--markdown` and `--html` name. Raises OSError."""
    _write_texts(arguments, summary)
    if arguments.html is not None:
        from harness.cli.pictures import write_run

        write_run(arguments.html, summary, cases, runner, reports, of_all=arguments.pictures == "all")


def write_unread(arguments: argparse.Namespace, why: ScenarioError | str) -> None:
    """Write the same files where no case could be read: an error for each file with mistakes, or for each that was named."""
    from harness.reports.summary import Summary

    summary = Summary(tuple(_unread(arguments.files, why)), 0.0)
    _write_texts(arguments, summary)
    if arguments.html is not None:
        from harness.reports.picture.corpus import corpus_page

        write_text(arguments.html, corpus_page(summary))


def _unread(files: Sequence[Path], why: ScenarioError | str) -> Iterator[CaseReport]:
    from harness.cli.output import display_name
    from harness.reading.problems import Mark
    from harness.scenario.expectations.verdicts import CaseReport, Outcome
    from plainlines import joined

    if isinstance(why, str):
        for path in files:
            name = display_name(path)
            yield CaseReport("not run", name, Mark(name, 1, 1), Outcome.ERROR, error=why)
        return
    problems: dict[str, list[Problem]] = {}
    for problem in why.problems:
        problems.setdefault(problem.mark.file, []).append(problem)
    for file, own in problems.items():
        yield CaseReport(
            "cannot be run", file, own[0].mark, Outcome.ERROR, error=joined(map(str, own)), problems=tuple(own)
        )


def _write_texts(arguments: argparse.Namespace, summary: Summary) -> None:
    if arguments.junit is not None:
        from harness.reports import junit

        write_text(arguments.junit, junit.render(summary))
    if arguments.markdown is not None:
        from harness.reports.markdown import run

        write_text(arguments.markdown, run(summary))


def print_summary(arguments: argparse.Namespace, summary: Summary) -> None:
    """Print the last line, or all in another form."""
    if arguments.format == "markdown":
        from harness.reports.markdown import run

        print_document(run(summary))
        return
    if arguments.format in {"github", "sarif"}:
        from harness.cli.output import print_found
        from harness.reports.annotations import annotations_of_run

        print_found(annotations_of_run(summary), arguments.format)
        if arguments.format == "sarif":
            return
    if arguments.format == "json":
        from harness.reading.problems import ScenarioError
        from harness.reports.as_json import problems_value, summary_value

        problems = [problem for case in summary.cases for problem in case.problems]
        print_json({**summary_value(summary), **(problems_value(ScenarioError(problems)) if problems else {})})
        return
    from harness.reports.terminal import Style, render_summary

    print_lines(render_summary(summary, Style(colour())), coloured=colour())


def case_text(case: CaseReport, *, verbose: bool) -> str:
    """Return the text of one case for a terminal."""
    from harness.reports.terminal import Style, render_case

    return render_case(case, Style(colour()), verbose=verbose)
