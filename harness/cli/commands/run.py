"""`harness run`: scenarios without pytest."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from harness.cli.output import BAD_INPUT, NO_ENVIRONMENT, add_forms, bad_input, display_name
from harness.cli.outside import add_allow_outside, checkout_given
from harness.cli.run_reports import case_text, left_out, print_summary, write_pages, write_unread
from harness.cli.traces import add_trace, tracing
from harness.interrupts import code_of
from harness.scenario.running.processes import processes_of
from lazyrecords import dataclass
from plainlines import print_lines, printable

if TYPE_CHECKING:
    from harness.cli.run_cases import RunsCases
    from harness.reading.checkout import Checkout
    from harness.reading.problems import Problem
    from harness.scenario.expectations.verdicts import CaseReport
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner

__all__ = ["add_arguments", "run", "scenario_files"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness run`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="scenario files, or folders of them")
    parser.add_argument("-k", metavar="TEXT", help="only cases whose id contains this text")
    parser.add_argument("--release", metavar="R", help="release of the provider, in place of what the files say")
    parser.add_argument(
        "--crds", metavar="DIR", help="CRD files (or a release) to judge objects by, in place of what the files say"
    )
    parser.add_argument(
        "--karpenter",
        choices=("simulated", "simulated,real"),
        metavar="WHICH",
        default="simulated",
        help="which Karpenter runs: simulated (default), or simulated,real: then each case runs under both, the real one by "
        "HARNESS_KARPENTER, and must come to the same",
    )
    parser.add_argument(
        "--kept-differences",
        type=Path,
        metavar="FILE",
        help="known differences from the real Karpenter, with their reasons",
    )
    parser.add_argument(
        "--real-limit",
        metavar="DURATION",
        help="with --karpenter simulated,real: how much virtual time a case may take to be run in real time as well (default 1m)",
    )
    parser.add_argument(
        "-n",
        type=processes_of,
        default=1,
        metavar="N",
        help="run cases in N processes, auto in as many as there are cores (default 1)",
    )
    parser.add_argument("-x", "--exitfirst", action="store_true", help="end with the first case that fails")
    parser.add_argument("--shard", metavar="I/N", help="only part I of N: every Nth case, from the Ith on")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write one HTML page, which needs nothing else")
    parser.add_argument(
        "--pictures",
        choices=("few", "all"),
        default="few",
        help="of which cases the page has pictures: of all where they are few, else of those not as expected (default); or of all",
    )
    add_allow_outside(parser)
    add_trace(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every case and every expectation")
    add_forms(parser, junit=False)  # --junit FILE writes it


def scenario_files(paths: Iterable[Path], checkout: Checkout | None = None) -> Iterator[Path]:
    """The files themselves, and of folders every YAML file that holds a scenario. Raises ScenarioError as `files_below` does."""
    from harness.reading.sources import files_below
    from harness.sniffing import is_scenario_file

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for file in files_below(path, display_name(path), checkout):
            if file.suffix != ".json" and is_scenario_file(file):
                yield file


def run(arguments: argparse.Namespace) -> int:
    """Run the files: 0 when all is as expected, 1 when not, 2 when a file is wrong, 3 without CRD engine or when a
    controller ends.

    Failures are told at once; 130 after an interrupt, with the results by then.
    """
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError, check_release
    from harness.clusters.errors import ClusterFailed
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.crds import CelEngineMissing, CrdDirectories, UnknownCrds

    crds = None
    try:
        check_outputs(arguments, "junit", "html", "markdown")
        check_release(arguments.release)
        if arguments.crds is not None:
            crds = CrdDirectories().named(arguments.crds, Path.cwd())
        return _run(arguments, crds)
    except KeyboardInterrupt:
        write_unread(arguments, "interrupted before the first case ran")
        raise
    except InputError as error:
        return bad_input(f"harness run: {error}")
    except UnknownCrds as error:
        return bad_input(printable(f"harness run: --crds: {error}"))
    except ScenarioError as error:
        write_unread(arguments, error)
        return bad_input(error, arguments.format)
    except (CelEngineMissing, ClusterFailed) as error:
        print_lines(str(error), error=True)
        return 3


def _run(arguments: argparse.Namespace, crds: object) -> int:
    from harness.cli.destinations import check_outputs, files_of
    from harness.cli.run_cases import Shard
    from harness.cli.run_real import comparing_runner
    from harness.reports.summary import Summary
    from harness.scenario.running.runner import Runner

    start = perf_counter()
    shard = Shard.parse(arguments.shard)
    runner = Runner(crds=crds)
    runner.tracing = tracing(arguments)
    comparing = comparing_runner(arguments, runner)
    cases = _cases(arguments, runner)
    if not cases:
        return bad_input(printable(f"no scenarios found {_where(arguments)}"))
    check_outputs(arguments, "junit", "html", "markdown", read=files_of(cases))
    cases = shard.of(cases)
    reports: dict[int, CaseReport] = {}
    try:
        ended = _run_cases(arguments, comparing or runner, cases, reports)
    finally:
        if comparing is not None:
            comparing.close()
    ran = len(reports)
    reports |= left_out(cases, reports, ended.why, chosen=ended.code == 0)
    notes = tuple(dict.fromkeys(note for case in cases for note in case.notes))
    summary = Summary(tuple(report for _, report in sorted(reports.items())), perf_counter() - start, notes)
    try:
        write_pages(arguments, summary, cases, runner, reports)
    finally:  # a full disk loses the files, not the verdicts
        print_summary(arguments, summary)
    if arguments.format == "text":
        for note in notes:
            print_lines(note)
    if comparing is not None and arguments.format == "text":
        from harness.reports.agreement import render_agreement

        print_lines(render_agreement(comparing.found, verbose=arguments.verbose))
    if ended.code:
        print_lines(f"{ended.why}: {ran} of {len(cases)} cases ran", error=True)
        return ended.code
    return BAD_INPUT if any(case.problems for case in summary.cases) else summary.exit_code


def _cases(arguments: argparse.Namespace, runner: Runner) -> list[Case]:
    """The cases of the files that `-k` leaves. Raises ScenarioError with every mistake of all files."""
    from harness.karpenter.releases import provider
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.files import load

    release = provider(arguments.release).version if arguments.release is not None else None
    problems: list[Problem] = []
    cases: list[Case] = []
    for path in scenario_files(arguments.files, checkout_given(arguments)):
        try:
            scenarios = load(path, display_name(path), release=release, checkout=checkout_given(arguments))
            chosen = [case for scenario in scenarios for case in scenario.cases]
            runner.check_inputs(chosen)
            cases += chosen
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return [case for case in cases if arguments.k in f"{case.file}::{case.name}"] if arguments.k else cases


@dataclass(frozen=True, slots=True)
class _Ended:
    """The reason why a run ended before its last case, and its exit code; 0 where it is as the user wants it."""

    why: str = ""
    code: int = 0


def _run_cases(
    arguments: argparse.Namespace, runner: RunsCases, cases: Sequence[Case], reports: dict[int, CaseReport]
) -> _Ended:
    """Run the cases, add their results to `reports`, and tell of them meanwhile."""
    from harness.cli.run_cases import each_report, progress
    from harness.clusters.errors import ClusterFailed

    bar = progress(len(cases))
    try:
        for number, report in each_report(runner, cases, arguments.n):
            reports[number] = report
            bar.advance(bad=report.is_bad)
            if arguments.format == "text" and (report.is_bad or arguments.verbose):
                bar.show(case_text(report, verbose=arguments.verbose))
            if arguments.exitfirst and report.is_bad:
                return _Ended("--exitfirst ends a run with the first case that fails")
    except KeyboardInterrupt as interrupt:
        return _Ended("interrupted", code_of(interrupt))
    except ClusterFailed as error:
        return _Ended(str(error), NO_ENVIRONMENT)
    finally:
        bar.end()
    return _Ended()


def _where(arguments: argparse.Namespace) -> str:
    names = ", ".join(map(display_name, arguments.files))
    if arguments.k:
        return f"whose id contains '{arguments.k}' in {names}"
    return f"in {names} (YAML files that begin with 'scenario: NAME', or lie in a folder scenarios)"
