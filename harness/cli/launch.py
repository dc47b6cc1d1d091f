"""`harness launch`: a controller as if it ran in a pod, with the environment of this shell."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

__all__ = ["add_arguments", "run"]

MISSING = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `harness launch`."""
    parser.add_argument("program", help="the controller's binary; all its options can be given by the environment")


def run(arguments: argparse.Namespace) -> int:
    """Becomes the program, with the token of a service account where a pod has one; 2 without a program, 3 where that cannot be done."""
    from harness.world.real.process import missing_tools, pod_command

    lacking = missing_tools()
    if lacking:
        print(f"harness launch: {lacking}", file=sys.stderr)
        return MISSING
    if shutil.which(arguments.program) is None:
        print(f"harness launch: {arguments.program} is no program that can be executed", file=sys.stderr)
        return 2
    command = [*pod_command(), arguments.program]
    os.execvp(command[0], command)
