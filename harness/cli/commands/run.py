"""`harness run`: scenarios without pytest."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from harness.cli.output import BAD_INPUT, add_format, bad_input, colour, display_name, misplaced, print_json
from harness.cli.traces import add_trace, tracing
from harness.scenario.running.processes import processes_of
from plainlines import print_line, print_lines, printable

if TYPE_CHECKING:
    from harness.cli.run_cases import RunsCases
    from harness.reading.problems import Problem, ScenarioError
    from harness.reports.summary import Summary
    from harness.scenario.language.cases import Case
    from harness.scenario.running.runner import Runner
    from harness.scenario.running.verdicts import CaseReport

__all__ = ["add_arguments", "run", "scenario_files"]

INTERRUPTED = 130  # as a shell tells SIGINT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness run`."""
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
    add_trace(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every case and every expectation")
    add_format(parser)


def scenario_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files themselves, and of folders every YAML file that holds a scenario. Raises ScenarioError as `files_below` does."""
    from harness.reading.sources import files_below
    from harness.sniffing import is_scenario_file

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for file in files_below(path, display_name(path)):
            if file.suffix != ".json" and is_scenario_file(file):
                yield file


def run(arguments: argparse.Namespace) -> int:
    """Runs the files: 0 when all is as expected, 1 when not, 2 when a file is wrong, 3 without CRD engine or when a controller ends.

    What fails is told when it does; 130 after an interrupt, with what was known by then.
    """
    from harness.cli.worlds import InputError, check_release
    from harness.clusters.errors import ClusterFailed
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.crds import CelEngineMissing, CrdDirectories, UnknownCrds

    crds = None
    for option in ("junit", "html"):
        path = getattr(arguments, option)
        if path is not None and (what := misplaced(path)):
            return bad_input(printable(f"harness run: --{option} {path}: {what}"))
    try:
        check_release(arguments.release)
        if arguments.crds is not None:
            crds = CrdDirectories().named(arguments.crds, Path.cwd())
        return _run(arguments, crds)
    except InputError as error:
        return bad_input(f"harness run: {error}")
    except UnknownCrds as error:
        return bad_input(printable(f"harness run: --crds: {error}"))
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    except (CelEngineMissing, ClusterFailed) as error:
        print_lines(str(error), error=True)
        return 3


def _run(arguments: argparse.Namespace, crds: object) -> int:
    from harness.cli.run_cases import Shard
    from harness.cli.run_real import comparing_runner
    from harness.reading.problems import ScenarioError
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
    cases = shard.of(cases)
    reports: dict[int, CaseReport] = {}
    problems: list[Problem] = []
    try:
        interrupted = _run_cases(arguments, comparing or runner, cases, reports, problems)
    finally:
        if comparing is not None:
            comparing.close()
    summary = Summary(tuple(report for _, report in sorted(reports.items())), perf_counter() - start)
    try:
        _write(arguments, summary)
        if arguments.html is not None:
            from harness.cli.pictures import write_run

            write_run(arguments.html, summary, cases, runner, reports, of_all=arguments.pictures == "all")
    finally:  # a full disk loses the files, not the verdicts
        _print(arguments, summary, ScenarioError(problems))
    if comparing is not None and arguments.format == "text":
        from harness.reports.agreement import render_agreement

        print_lines(render_agreement(comparing.found, verbose=arguments.verbose))
    if interrupted:
        print_line(f"interrupted: {len(reports)} of {len(cases)} cases ran", error=True)
        return INTERRUPTED
    return BAD_INPUT if problems else summary.exit_code


def _cases(arguments: argparse.Namespace, runner: Runner) -> list[Case]:
    """The cases of the files that `-k` leaves. Raises ScenarioError with every mistake of all files."""
    from harness.karpenter.releases import provider
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.files import load

    release = provider(arguments.release).version if arguments.release is not None else None
    problems: list[Problem] = []
    cases: list[Case] = []
    for path in scenario_files(arguments.files):
        try:
            found = [case for scenario in load(path, display_name(path), release=release) for case in scenario.cases]
            runner.check_inputs(found)
            cases += found
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return [case for case in cases if arguments.k in f"{case.file}::{case.name}"] if arguments.k else cases


def _run_cases(
    arguments: argparse.Namespace,
    runner: RunsCases,
    cases: Sequence[Case],
    reports: dict[int, CaseReport],
    problems: list[Problem],
) -> bool:
    """Runs them, adds what comes of it to `reports` and `problems`, and tells of it meanwhile. Returns whether it was interrupted."""
    from harness.cli.run_cases import each_report, progress
    from harness.reading.problems import ScenarioError

    told = progress(len(cases))
    try:
        for number, outcome in each_report(runner, cases, arguments.n):
            if isinstance(outcome, ScenarioError):  # found only while it ran; the other cases are none the worse
                problems += outcome.problems
                continue
            reports[number] = outcome
            told.advance(bad=outcome.is_bad)
            if arguments.format == "text" and (outcome.is_bad or arguments.verbose):
                told.show(_case_text(outcome, arguments))
            if arguments.exitfirst and outcome.is_bad:
                break
    except KeyboardInterrupt:
        return True
    finally:
        told.end()
    return False


def _where(arguments: argparse.Namespace) -> str:
    names = ", ".join(map(str, arguments.files))
    if arguments.k:
        return f"whose id contains '{arguments.k}' in {names}"
    return f"in {names} (YAML files that begin with 'scenario: NAME', or lie in a folder scenarios)"


def _write(arguments: argparse.Namespace, summary: Summary) -> None:
    if arguments.junit is not None:
        from harness.reports import junit

        arguments.junit.write_text(junit.render(summary), encoding="utf-8")


def _print(arguments: argparse.Namespace, summary: Summary, wrong: ScenarioError) -> None:
    if arguments.format == "json":
        from harness.reports.as_json import problems_value, summary_value

        print_json({**summary_value(summary), **(problems_value(wrong) if wrong.problems else {})})
        return
    from harness.reports.terminal import Style, render_summary

    print_lines(render_summary(summary, Style(colour())), coloured=colour())
    for problem in wrong.problems:
        print_line(str(problem), error=True)


def _case_text(case: CaseReport, arguments: argparse.Namespace) -> str:
    from harness.reports.terminal import Style, render_case

    return render_case(case, Style(colour()), verbose=arguments.verbose)
