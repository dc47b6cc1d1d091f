"""`harness watch`: what happened in a world, as a film on a terminal or as lines of text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from harness.cli.output import bad_input, no_environment, show
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.trace import Trace

__all__ = ["add_arguments", "run", "show_trace"]

_SECONDS = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness watch`."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a trace, or a scenario file or manifests, which are run"
    )
    parser.add_argument("-k", metavar="TEXT", help="the case of a scenario file whose name is this, or contains it")
    parser.add_argument("--release", metavar="R", help="release of the provider, in place of what the file says")
    parser.add_argument("--seed", metavar="N", help="seed, in place of what the file says")
    parser.add_argument("--region", metavar="R", help="region, in place of what the file says")
    parser.add_argument(
        "--seconds", type=float, default=_SECONDS, metavar="N", help=f"how long the film is (default {_SECONDS:g})"
    )
    parser.add_argument("--plain", action="store_true", help="lines of text on a terminal, too")


def run(arguments: argparse.Namespace) -> int:
    """Shows the trace, or that of what is run."""
    from harness.cli.compare_sides import one_trace
    from harness.cli.worlds import InputError, check_release
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.crds import CelEngineMissing
    from harness.trace import TraceError

    if not 0 <= arguments.seconds < 86_400:
        return bad_input(f"harness watch: --seconds {arguments.seconds:g}: a number from 0 to a day is expected")
    try:
        check_release(arguments.release)
        trace, notes = one_trace(
            arguments.file, arguments.k, arguments.release, arguments.region, _seed(arguments.seed)
        )
    except (InputError, TraceError) as error:
        return bad_input(f"harness watch: {error}")
    except OSError as error:
        return bad_input(printable(f"harness watch: {error.filename}: {error.strerror}"))
    except ScenarioError as error:
        return bad_input(error)
    except CelEngineMissing as error:
        return no_environment(f"harness watch: {error}")
    for line in notes:
        show(line)
    try:
        show_trace(trace, seconds=arguments.seconds, plain=arguments.plain)
    except KeyboardInterrupt:
        return 130
    return 0


def _seed(text: str | None) -> int | None:
    """Return the seed. Raises InputError."""
    from harness.cli.worlds import InputError

    if text is not None and not text.isdecimal():
        raise InputError(f"--seed {text}: a whole number is expected")
    return None if text is None else int(text)


def show_trace(trace: Trace, *, seconds: float = _SECONDS, plain: bool = False) -> None:
    """A film where standard output is a terminal and rich is installed; else text."""
    if not plain and sys.stdout.isatty():
        from harness.reports.screen import play

        try:
            play(trace, Event().wait, seconds=seconds)
            return
        except ImportError:
            print_line("(a film needs rich: pip install 'karpenter-azure-harness[progress]')", error=True)
    from harness.reports.film import in_letters, plain_lines

    for line in plain_lines(trace):
        print_line(in_letters(line, sys.stdout.encoding))
