"""`harness completion`: a script that completes commands and options in a shell, written by shtab."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.output import no_environment
from plainlines import print_document

__all__ = ["add_arguments", "run"]

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; exit code 3 where shtab is not installed."""
    from harness.cli import whole_parser

    try:
        import shtab
    except ImportError:
        return no_environment(
            "harness completion: needs the package shtab: pip install 'karpenter-azure-harness[completion]'"
        )
    parser = whole_parser()
    _complete_files(parser, shtab.FILE)
    print_document(shtab.complete(parser, shell=arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser, file: object) -> None:
    """Let files complete every option and word that is a path."""
    for action in parser._actions:  # shtab reads them there, too
        if action.type is Path:
            action.complete = file  # type: ignore[attr-defined]
        elif isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                _complete_files(subparser, file)
