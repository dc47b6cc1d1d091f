"""`harness launch`: a controller as if it ran in a pod, with the environment of this shell."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from plainlines import print_line

__all__ = ["CA", "TOKEN", "add_arguments", "run"]

MISSING = 3

TOKEN = "HARNESS_SERVICE_ACCOUNT_TOKEN"
CA = "HARNESS_SERVICE_ACCOUNT_CA"
"""Variables of what a pod finds of its service account: the token, and the file of the API server's certificate authority."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `harness launch`."""
    parser.add_argument("program", help="the controller's binary; all its options can be given by the environment")


def run(arguments: argparse.Namespace) -> int:
    """Becomes the program, with the token of a service account where a pod has one; 2 without a program, 3 where that cannot be done."""
    from harness.world.real.process import ANY_TOKEN, missing_tools, pod_command

    lacking = missing_tools()
    if lacking:
        print_line(f"harness launch: {lacking}", error=True)
        return MISSING
    if shutil.which(arguments.program) is None:
        print_line(f"harness launch: {arguments.program} is no program that can be executed", error=True)
        return 2
    ca = os.environ.get(CA)
    command = [*pod_command(os.environ.get(TOKEN) or ANY_TOKEN, Path(ca) if ca else None), arguments.program]
    os.execvp(command[0], command)
