"""`harness dev answer`: the protocol on standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from plainlines import print_line

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness dev answer`."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument(
        "--release",
        default=DEFAULT_RELEASE,
        metavar="R",
        help="release of karpenter-provider-azure that answers (default %(default)s)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="SKU lists and prices by location, as JSON or JSON.gz"
    )
    parser.add_argument(
        "--crds", type=Path, metavar="DIR", help="CRD files that validate_nodepool judges by, in place of the release's"
    )


def run(arguments: argparse.Namespace) -> int:
    """Answer until the input ends.

    Exit code 2 when the release or a file is not usable, or a line was refused; 1 when one could not be answered; 3 without an
    engine for CRD files.
    """
    from harness.conformance.context import AnswerContext, DataFile
    from harness.conformance.loop import serve
    from harness.karpenter.releases import UnknownRelease, provider

    try:
        release = provider(arguments.release)
        data = None
        if arguments.data is not None:
            data = DataFile(arguments.data)
            len(data)  # an unreadable file is told now, not in the middle of the answers
    except (UnknownRelease, OSError, ValueError) as error:
        print_line(f"harness dev answer: {error}", error=True)
        return 2
    crds = None
    if arguments.crds is not None:
        from harness.clusters.crd_files import CelEngineMissing, CrdFileError, CrdFiles

        try:
            crds = CrdFiles(arguments.crds)
            crds.compile()
        except CrdFileError as error:
            print_line(f"harness dev answer: {error}", error=True)
            return 3 if isinstance(error, CelEngineMissing) else 2
    try:
        return serve(sys.stdin.buffer, sys.stdout.buffer, AnswerContext(release, data, crds=crds))
    except BrokenPipeError:  # whoever asked has gone; the interpreter must not try to flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0
