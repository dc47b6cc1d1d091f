"""`--trace`: where a command leaves what happened."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.worlds import InputError

if TYPE_CHECKING:
    from harness.scenario.running.tracing import Tracing

__all__ = ["add_trace", "tracing"]


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness run`."""
    parser.add_argument("--trace", type=Path, metavar="DIR", help="write a trace of each case into this folder")
    parser.add_argument(
        "--trace-of", choices=("all", "failed"), default="all", help="of which cases traces are written (default all)"
    )


def tracing(arguments: argparse.Namespace) -> Tracing | None:
    """What the runner does with traces. Raises InputError for a folder that cannot be."""
    if arguments.trace is None:
        return None
    folder: Path = arguments.trace
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--trace {folder}: a file; a folder for the traces of the cases is expected")
    if arguments.karpenter != "simulated":
        raise InputError("--trace: traces of two Karpenters are what harness compare is for; take --karpenter simulated")
    from harness.scenario.running.tracing import Tracing

    return Tracing(folder, all=arguments.trace_of == "all")
