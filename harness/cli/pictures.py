"""`--html`: pages that show what happened, made of traces."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import display_name
from harness.outputs import write_text

if TYPE_CHECKING:
    from harness.explain.traces.grouping import Group
    from harness.reports.summary import Summary
    from harness.scenario.expectations.verdicts import CaseReport
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner
    from harness.trace import Trace
    from harness.trace.comparing import Comparison

__all__ = ["Opening", "add_html", "write_comparisons", "write_run"]

_ALL = 20
"""Cases of a run up to which each has its picture; in a longer one only those that are not as expected have."""
_BAD = 40
_WITHOUT = (
    f"Cases that passed have no picture, for they are more than {_ALL}: `--pictures all` draws them, `-k TEXT` picks some. "
    "Without a picture no badge says that a pod waits or that Azure refused something."
)


def add_html(parser: argparse.ArgumentParser) -> None:
    """Declare `--html` of a command that shows one world."""
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="also write one HTML page of what happened, which needs nothing else"
    )


def write_run(
    path: Path,
    summary: Summary,
    cases: Sequence[Case],
    runner: Runner,
    reports: Mapping[int, CaseReport],
    *,
    of_all: bool = False,
) -> None:
    """Write the page of a run. Cases that get a picture and have no trace yet run once more; `reports` are by position
    in `cases`.

    `of_all`: each case gets one, however many they are.
    """
    from tempfile import TemporaryDirectory

    from harness.reports.picture.corpus import corpus_page

    order = sorted(reports)
    few = of_all or len(order) <= _ALL
    wanted = order if few else [number for number in order if reports[number].is_bad][:_BAD]
    worlds = {}
    with TemporaryDirectory() as folder:
        for number in wanted:
            world = _world(cases[number], reports[number], runner, Path(folder))
            if world is not None:
                worlds[order.index(number)] = world
    without = "" if wanted == order else _WITHOUT
    write_text(path, corpus_page(summary, worlds, without))


def _world(case: Case, report: CaseReport, runner: Runner, folder: Path) -> dict[str, Any] | None:
    """The picture of a case, or None where it has none: it is skipped, broken, or asks about many worlds."""
    from harness.reading.problems import ScenarioError
    from harness.reports.picture.world import world_value
    from harness.scenario.expectations.verdicts import Outcome
    from harness.scenario.running.tracing import Tracing
    from harness.trace import read_trace

    if report.outcome in (Outcome.SKIPPED, Outcome.ERROR):
        return None
    trace = report.trace
    if not trace:
        before, runner.tracing = runner.tracing, Tracing(folder, explained=True)
        try:
            trace = runner.run(case).trace
        except ScenarioError:
            return None
        finally:
            runner.tracing = before
    return world_value(read_trace(Path(trace)).to_json()) if trace else None


@dataclass(frozen=True, slots=True)
class Opening:
    """The opening of a page of comparisons: the groups of differences, lines about the cost, a note about both sides."""

    groups: Sequence[Group]
    cost: Sequence[str]
    note: str


def write_comparisons(
    path: Path,
    files: Sequence[Path],
    traces: Sequence[tuple[str, Trace, Trace]],
    comparisons: Sequence[tuple[str, Comparison]],
    opening: Opening,
) -> None:
    """Write the page of comparisons: the differences and both stories of each; those that differ most first."""
    from harness.explain.traces.group_texts import group_value, summary_text
    from harness.reports.picture.compare import Summary, compare_page, pair_of

    pairs = [
        pair_of(name, left, right, comparison)
        for (name, left, right), (_, comparison) in zip(traces, comparisons, strict=True)
    ]
    pairs.sort(key=lambda pair: -sum(not difference.kept for difference in pair.differences))
    situations = [] if not comparisons else comparisons[0][1].situations
    left, right = (", ".join(f"{words[0]} {words[side]}" for words in situations) for side in (1, 2))
    file_names = [display_name(file) for file in files]
    names = (left or file_names[0], right or file_names[-1])
    if len(files) > 1:
        names = (f"{file_names[0]} {left}".strip(), f"{file_names[1]} {right}".strip())
    groups = opening.groups
    summary = Summary(
        summary_text(comparisons, groups), opening.note, [group_value(group) for group in groups], opening.cost
    )
    write_text(path, compare_page(f"Comparison of {names[0]} and {names[1]}", names, pairs, summary))
