"""`harness migrate`: from agent pools and the cluster autoscaler to NodePools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.output import add_format, bad_input, no_environment, print_json, show
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.cli.pool_files import Files
    from harness.migrate.proposing.proposal import Proposal
    from harness.world import World

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness migrate`."""
    add_inputs(parser, fail_on=False)
    files = next(action for action in parser._actions if action.dest == "files")
    files.help = (
        "what `az aks show`, `az aks nodepool list`, `bicep build` or `terraform show -json` prints of agent pools, and what "
        "`kubectl get -o yaml` prints of the cluster; folders of the latter; - is standard input, for agent pools"
    )
    parser.add_argument(
        "--widen", action="store_true", help="NodePools make every size of the family that holds the pool's pods"
    )
    parser.add_argument("--merge", action="store_true", help="join agent pools that differ in size or zone only")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="write manifests and tables into this folder"
    )
    parser.add_argument("--force", action="store_true", help="write over files of an earlier run in that folder")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints what becomes of the agent pools, and writes it. Exit code 0; 2 for input that is none; 3 without a cluster."""
    from harness.cli.live import Environment
    from harness.cli.migration_folder import check_folder, write_folder
    from harness.cli.pool_files import read_pool_files
    from harness.cli.worlds import InputError
    from harness.migrate.folder import files_of
    from harness.migrate.summary import proposal_lines, proposal_value
    from harness.reading.problems import ScenarioError

    try:
        check_folder(arguments)
        files = read_pool_files(arguments)
        inputs, world, proposal = _proposed(arguments, files)
    except InputError as error:
        return bad_input(f"harness migrate: {error}")
    except Environment as error:
        return no_environment(f"harness migrate: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    if arguments.output is not None:
        try:
            write_folder(arguments.output, files_of(proposal, world.release.version))
        except OSError as error:
            return bad_input(printable(f"harness migrate: {error.filename}: {error.strerror}"))
    if arguments.format == "json":
        print_json(
            {
                "read": inputs.value(),
                "region": world.region,
                "release": world.release.version,
                **proposal_value(proposal),
            }
        )
        return 0
    for line in (*inputs.head(world), *files.dump.notes(), *proposal_lines(proposal)):
        show(line)
    if arguments.output is not None:
        print_line(
            f"written to {printable(str(arguments.output))}; harness validate {printable(str(arguments.output))}"
        )
    return 0


def _proposed(arguments: argparse.Namespace, files: Files) -> tuple[Inputs, World, Proposal]:
    """What the files say, a world for it, and the proposal. Raises InputError, ScenarioError."""
    from harness.cli.given_world import inputs_from
    from harness.cli.manifests import options_given, world_of
    from harness.migrate.proposing.demands import demands_of, taken_names
    from harness.migrate.proposing.proposal import Plan, proposed

    cluster = files.cluster
    place = f"what {cluster.mark} says" if cluster.mark is not None else ""
    said = {
        "karpenter": ("--release", arguments.release),
        "region": ("--region", arguments.region) if arguments.region else (place, cluster.location or None),
        "kubernetes": ("--kubernetes", arguments.kubernetes)
        if arguments.kubernetes
        else (place, cluster.kubernetes or None),
        "provision_mode": ("--mode", arguments.mode),
    }
    inputs = inputs_from(files.dump, said, {**cluster.network, **options_given(arguments)})
    world = world_of(arguments, inputs)
    objects = [manifest.object for manifest in (*files.dump.manifests, *files.dump.derived)]
    plan = Plan(taken_names(objects), widen=arguments.widen, merge=arguments.merge, demands=demands_of(objects))
    return inputs, world, proposed(world, cluster, plan)
