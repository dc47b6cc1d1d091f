"""`harness attach`: a scenario on a cluster where somebody else's Karpenter runs, with our Azure."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from harness.cli.output import (
    BAD_INPUT,
    NO_ENVIRONMENT,
    add_format,
    bad_input,
    colour,
    display_name,
    no_environment,
    print_json,
)
from harness.cli.outside import add_allow_outside, checkout_given
from plainlines import print_line, print_lines

if TYPE_CHECKING:
    from harness.cli.attaching import Target
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.comparing.attached_runs import AttachedRun
    from harness.scenario.expectations.verdicts import CaseReport
    from harness.scenario.language.cases import Case
    from harness.world.real.world import RealWorld

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness attach`."""
    parser.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: KUBECONFIG, ~/.kube/config)"
    )
    parser.add_argument("--context", metavar="NAME", help="its context (default: the current one)")
    parser.add_argument(
        "--expect",
        type=Path,
        metavar="FILE",
        help="the scenario file that is applied, and whose `then` has to hold",
    )
    parser.add_argument("-k", metavar="TEXT", help="only cases whose name contains this text")
    parser.add_argument(
        "--release", metavar="R", help="the release that the controller is of, in place of what the file says"
    )
    parser.add_argument("--controller", type=Path, metavar="PROGRAM", help="start this controller, too")
    parser.add_argument(
        "--environment",
        type=Path,
        default=Path("azure.env"),
        metavar="FILE",
        help="where the variables for a controller are written, for you to start it (default: %(default)s)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=Path(".fakeazure"),
        metavar="DIR",
        help="of Azure's certificates",
    )
    parser.add_argument(
        "--http-port", type=int, default=8080, metavar="N", help="Azure's tokens; 0: any free port (default: 8080)"
    )
    parser.add_argument(
        "--https-port", type=int, default=8443, metavar="N", help="Azure's ARM; 0: any free port (default: 8443)"
    )
    parser.add_argument(
        "--wait", type=float, default=300.0, metavar="SECONDS", help="for the controller (default: 300)"
    )
    parser.add_argument("--keep", action="store_true", help="leave on the cluster what the scenario made")
    add_allow_outside(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and only read the cluster")
    parser.add_argument(
        "--clean", metavar="RUN", help="in place of --expect: delete what that run has left, and nothing else"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask whether the current context is the right one")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Asserts the scenario: 0 when it holds, 1 when not, 2 for bad input, 3 where cluster, port or controller is missing or objects stay.

    Interrupted, it returns what a shell returns for the signal.
    """
    from fakeazure.transports.pki import PkiError
    from harness.cli.worlds import InputError
    from harness.clusters.errors import ClusterFailed
    from harness.clusters.kubeconfig import ClientMissing, KubeconfigError
    from harness.clusters.remote.ownership import NotOurs
    from harness.clusters.waiting import Interrupted
    from harness.kube.api.status import ApiError
    from harness.reading.problems import ScenarioError

    try:
        _check(arguments)
        return _clean(arguments) if arguments.clean is not None else _attach(arguments, _cases(arguments))
    except (InputError, NotOurs) as error:
        return bad_input(f"harness attach: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    except KubeconfigError as error:
        text = f"harness attach: --kubeconfig: {error}"
        return no_environment(text) if error.reached else bad_input(text)
    except Interrupted as error:
        return error.exit_code
    except (ClientMissing, ClusterFailed, PkiError, ApiError, OSError) as error:
        return no_environment(f"harness attach: {error}")


def _check(arguments: argparse.Namespace) -> None:
    """Raise InputError for options that do not fit together or name nothing."""
    from harness.cli.attaching import check_run
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError, check_release

    check_outputs(arguments, "environment")
    check_release(arguments.release)
    program = arguments.controller
    if program is not None and (program.is_dir() or not os.access(program, os.X_OK)):
        raise InputError(f"--controller: {program} is no program that can be executed")
    if arguments.clean is None:
        if arguments.expect is None:
            raise InputError("--expect FILE is needed: the scenario that is applied; or --clean RUN")
        return
    check_run(arguments.clean)
    others = {"--expect": arguments.expect, "-k": arguments.k, "--keep": arguments.keep}
    if others_given := [name for name, value in others.items() if value]:
        raise InputError(f"--clean takes away what a run has left, and does not go with {', '.join(others_given)}")


def _cases(arguments: argparse.Namespace) -> list[Case]:
    from harness.cli.worlds import InputError
    from harness.scenario.comparing.attached_runs import unfit
    from harness.scenario.language.files import load

    file = arguments.expect
    scenarios = load(file, display_name(file), release=arguments.release, checkout=checkout_given(arguments))
    cases_read = [case for scenario in scenarios for case in scenario.cases]
    cases = [case for case in cases_read if arguments.k is None or arguments.k in case.name]
    if not cases:
        raise InputError(f"--expect {file}: no case has '{arguments.k}' in its name")
    reasons = {case.name: unfit(case) for case in cases}
    fit = [case for case in cases if not reasons[case.name]]
    for name, reason in reasons.items():
        if reason:
            print_line(f"left out: {name}: {reason}", error=True)
    if not fit:
        raise InputError(f"--expect {file}: no case can be asserted on a cluster")
    return fit


def _attach(arguments: argparse.Namespace, cases: Sequence[Case]) -> int:
    from harness.clusters.waiting import unique

    run = unique()
    with _target(arguments, run) as target:
        if arguments.dry_run:
            return 0 if target.print_plan(cases, arguments.format) else BAD_INPUT
        target.check_free(cases)
        target.confirm(
            f"create the objects of {arguments.expect}", named=arguments.context is not None, yes=arguments.yes
        )
        print_line(f"run {run} on {target.place}", error=True)
    reports: list[CaseReport] = []
    for case in cases:
        with _target(arguments, run) as target:
            target.check_free([case])
            with _run_of(arguments, target) as attached:
                reports.append(attached.run(case))
            if attached.left:
                if len(reports) < len(cases):
                    print_line("the cases after it do not run, since they would find it there", error=True)
                break
    code = _report(reports, arguments)
    return code or (NO_ENVIRONMENT if attached.left and not arguments.keep else 0)


def _clean(arguments: argparse.Namespace) -> int:
    """Delete the objects that a run has left: 0 when none of them is there, however often it is called; 3 where something stays."""
    with _target(arguments, arguments.clean) as target:
        present = target.cluster.belongings.left()
        if arguments.dry_run:
            for leftover in present:
                print_line(f"delete {leftover}")
            return 0
        if present:
            target.confirm(
                f"delete what run {arguments.clean} left", named=arguments.context is not None, yes=arguments.yes
            )
            with _run_of(arguments, target) as attached:
                attached.clean()
            if attached.left:
                return NO_ENVIRONMENT
        print_line(f"nothing of run {arguments.clean} is on {target.place}", error=True)
        return 0


@contextmanager
def _target(arguments: argparse.Namespace, run: str) -> Iterator[Target]:
    from harness.cli.attaching import Target
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.clusters.remote.reached import reach

    reached = reach(arguments.kubeconfig, arguments.context)
    cluster = ForeignCluster(reached, run=run, bare=arguments.clean is not None)
    try:
        yield Target(cluster, arguments.kubeconfig)
    finally:
        cluster.stop()


@contextmanager
def _run_of(arguments: argparse.Namespace, target: Target) -> Iterator[AttachedRun]:
    """A run on the cluster that signals end in an orderly way; at its end it says what is left there."""
    from harness.cli.interruption import Interruption
    from harness.scenario.comparing.attached_runs import AttachedRun

    with Interruption(lambda: print_line(target.interrupted(), error=True, flush=True)) as interruption:
        attached = AttachedRun(
            target.cluster,
            arguments.state,
            started=lambda world: _announce(arguments, target.cluster, world),
            pulse=interruption.check,
            ports=(arguments.http_port, arguments.https_port),
            controller=arguments.controller.absolute() if arguments.controller is not None else None,
            release=arguments.release,
            wait=arguments.wait,
            tidy=not arguments.keep,
        )
        try:
            yield attached
        finally:
            if attached.left is None or attached.left or interruption.raised:
                print_line(f"harness attach: {target.remains(attached.left)}", error=True)


def _announce(arguments: argparse.Namespace, cluster: ForeignCluster, world: RealWorld) -> None:
    """Print where Azure is, and write down the needs of a controller."""
    from harness.cli.attaching import write_private

    if arguments.controller is not None:
        return
    variables = {**world.environment, **launch_variables(cluster)}
    lines = [f"export {name}={quote(value)}\n" for name, value in variables.items()]
    write_private(arguments.environment, "".join(lines))
    print_line(
        f"Azure answers at {world.azure_url}; start the controller: . {arguments.environment} && harness launch PROGRAM",
        error=True,
    )


def launch_variables(cluster: ForeignCluster) -> dict[str, str]:
    """Return the variables by which `harness launch` replaces a pod's service account."""
    from harness.cli.commands.launch import CA, TOKEN

    ca = {CA: str(cluster.ca.absolute())} if cluster.ca is not None else {}
    return {TOKEN: cluster.token("karpenter"), **ca}


def _report(reports: list[CaseReport], arguments: argparse.Namespace) -> int:
    from harness.reports.as_json import summary_value
    from harness.reports.summary import Summary
    from harness.reports.terminal import Style, render_case, render_summary

    summary = Summary(tuple(reports), sum(report.seconds for report in reports))
    if arguments.format == "json":
        print_json(summary_value(summary))
    else:
        style = Style(colour())
        for case_report in reports:
            if case_report.is_bad:
                print_lines(render_case(case_report, style, verbose=False), coloured=style.colour)
        print_lines(render_summary(summary, style), coloured=style.colour)
    return summary.exit_code
