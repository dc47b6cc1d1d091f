"""`harness migrate`: from agent pools and the cluster autoscaler to NodePools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.mistakes import Mistakes
from harness.cli.output import add_format, bad_input, display_name, no_environment, print_json, show
from harness.cli.pictures import add_html
from harness.outputs import write_text
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.cli.migration_plan import MigrationPlan

__all__ = ["add_arguments", "run"]

_FILES = (
    "what `az aks show`, `az aks nodepool list`, `bicep build` or `terraform show -json` prints of agent pools, and what "
    "`kubectl get -o yaml` prints of the cluster; folders of the latter; - is standard input, for agent pools"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness migrate`."""
    add_inputs(parser, fail_on=False, files=_FILES)
    parser.add_argument(
        "--hosting",
        choices=("nap", "self-hosted"),
        default="self-hosted",
        help="who runs Karpenter: AKS (node auto-provisioning, with its gallery of images, FIPS among them), or you (default)",
    )
    parser.add_argument(
        "--widen", action="store_true", help="NodePools make every size of the family that holds the pool's pods"
    )
    parser.add_argument("--merge", action="store_true", help="join agent pools that differ in size or zone only")
    parser.add_argument(
        "--side-by-side",
        action="store_true",
        help="walk the other way of AKS's how-to: taints and tolerations keep pools and NodePools apart, workloads move one by one",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="write manifests and tables into this folder"
    )
    parser.add_argument("--force", action="store_true", help="write over files of an earlier run in that folder")
    add_html(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what becomes of agent pools and workloads, and write it. Exit code 0; 2 for bad input; 3 without a cluster."""
    from harness.cli.live import Environment
    from harness.cli.migration_folder import write_folder
    from harness.cli.migration_page import move_page

    mistakes = Mistakes()
    try:
        plan = _plan(arguments, mistakes)
    except Environment as error:
        return no_environment(f"harness migrate: {error}")
    if plan is None:
        return mistakes.print("harness migrate", arguments.format)
    try:
        if arguments.output is not None:
            write_folder(arguments.output, plan.files)
        if arguments.html is not None:
            write_text(arguments.html, move_page(plan))
    except OSError as error:
        return bad_input(printable(f"harness migrate: {error.filename}: {error.strerror}"))
    if arguments.format == "json":
        print_json(plan.value())
        return 0
    for line in plan.lines():
        show(line)
    if arguments.output is not None:
        folder = printable(display_name(arguments.output))
        print_line(f"written to {folder}: {', '.join(plan.files)}")
    return 0


def _plan(arguments: argparse.Namespace, mistakes: Mistakes) -> MigrationPlan | None:
    """Return the plan; None where there are mistakes, all of which are collected."""
    from harness.cli.destinations import check_outputs
    from harness.cli.migration_folder import check_folder
    from harness.cli.migration_plan import check_options, planned
    from harness.cli.pool_files import read_pool_files
    from harness.cli.worlds import InputError
    from harness.garbage import NothingToFind

    with mistakes.collected():
        check_folder(arguments)
    with mistakes.collected():
        check_outputs(arguments, "html")
    files = read_pool_files(arguments, mistakes)
    if mistakes or files is None:
        with mistakes.collected():
            check_options(arguments, files)
        return None
    with mistakes.collected(), NothingToFind():
        plan = planned(arguments, files)
        if arguments.html is not None and plan.walk is None:
            raise InputError("--html: there is no move to show, for no workload is given that could be moved")
        return plan
    return None
