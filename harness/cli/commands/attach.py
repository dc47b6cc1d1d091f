"""`harness attach`: a scenario on a cluster where somebody else's Karpenter runs, with our Azure."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from harness.cli.output import add_format, bad_input, colour, display_name, no_environment, print_json
from harness.cli.outside import add_allow_outside, checkout_given
from harness.outputs import write_text
from plainlines import print_line, print_lines

if TYPE_CHECKING:
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.language.cases import Case
    from harness.scenario.running.verdicts import CaseReport
    from harness.world.real.world import RealWorld

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness attach`."""
    parser.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: KUBECONFIG, ~/.kube/config)"
    )
    parser.add_argument("--context", metavar="NAME", help="its context (default: the current one)")
    parser.add_argument(
        "--expect",
        type=Path,
        required=True,
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
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Asserts the scenario: 0 when it holds, 1 when not, 2 for bad input, 3 where cluster, port or controller is missing."""
    from fakeazure.transports.pki import PkiError
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError, check_release
    from harness.clusters.errors import ClusterFailed
    from harness.clusters.kubeconfig import ClientMissing, KubeconfigError
    from harness.reading.problems import ScenarioError

    try:
        check_outputs(arguments, "environment")
        check_release(arguments.release)
        program = arguments.controller
        if program is not None and (program.is_dir() or not os.access(program, os.X_OK)):
            raise InputError(f"--controller: {program} is no program that can be executed")
        cases = _cases(arguments)
        return _report([_asserted(arguments, case) for case in cases], arguments)
    except InputError as error:
        return bad_input(f"harness attach: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    except KubeconfigError as error:
        text = f"harness attach: --kubeconfig: {error}"
        return no_environment(text) if error.reached else bad_input(text)
    except (ClientMissing, ClusterFailed, PkiError, OSError) as error:
        return no_environment(f"harness attach: {error}")


def _cases(arguments: argparse.Namespace) -> list[Case]:
    from harness.cli.worlds import InputError
    from harness.scenario.comparing.attached_runs import unfit
    from harness.scenario.language.files import load

    file = arguments.expect
    scenarios = load(file, display_name(file), release=arguments.release, checkout=checkout_given(arguments))
    found = [case for scenario in scenarios for case in scenario.cases]
    cases = [case for case in found if arguments.k is None or arguments.k in case.name]
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


def _asserted(arguments: argparse.Namespace, case: Case) -> CaseReport:
    from harness.cli.worlds import InputError
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.comparing.attached_runs import AttachedRun

    cluster = ForeignCluster(arguments.kubeconfig, arguments.context)
    try:
        if others := cluster.left_by_others():
            raise InputError(
                f"{', '.join(others[:5])} is on context {cluster.name} already, and the scenario would be about it, too: delete it first"
            )
        attached = AttachedRun(
            cluster,
            arguments.state,
            started=lambda world: _announce(arguments, cluster, world),
            ports=(arguments.http_port, arguments.https_port),
            controller=arguments.controller.absolute() if arguments.controller is not None else None,
            release=arguments.release,
            wait=arguments.wait,
            tidy=not arguments.keep,
        )
        return attached.run(case)
    finally:
        cluster.stop()


def _announce(arguments: argparse.Namespace, cluster: ForeignCluster, world: RealWorld) -> None:
    """Prints where Azure is, and writes down what a controller needs."""
    if arguments.controller is not None:
        return
    variables = {**world.environment, **launch_variables(cluster)}
    lines = [f"export {name}={quote(value)}\n" for name, value in variables.items()]
    write_text(arguments.environment, "".join(lines), mode=0o600)  # whoever waits for the file finds all of it
    print_line(
        f"Azure answers at {world.azure_url}; start the controller: . {arguments.environment} && harness launch PROGRAM",
        error=True,
    )


def launch_variables(cluster: ForeignCluster) -> dict[str, str]:
    """What `harness launch` puts where a pod has its service account."""
    from harness.cli.commands.launch import CA, TOKEN

    ca = {CA: str(cluster.ca.absolute())} if cluster.ca is not None else {}
    return {TOKEN: cluster.token("karpenter"), **ca}


def _report(reports: list[CaseReport], arguments: argparse.Namespace) -> int:
    from harness.reports.as_json import summary_value
    from harness.reports.summary import Summary
    from harness.reports.terminal import Style, render_case, render_summary

    summary = Summary(tuple(reports), sum(each.seconds for each in reports))
    if arguments.format == "json":
        print_json(summary_value(summary))
    else:
        style = Style(colour())
        for each in reports:
            if each.is_bad:
                print_lines(render_case(each, style, verbose=False), coloured=style.colour)
        print_lines(render_summary(summary, style), coloured=style.colour)
    return summary.exit_code
