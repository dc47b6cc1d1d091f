"""The same question again and again, in front of a live cluster: the answer is shown when it is another one."""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

from harness.cli.output import bad_input
from plainlines import print_line, print_lines

__all__ = ["add_watch", "answered"]

_USUAL = "10s"
_LEAST = 1.0


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Declare `--watch`."""
    parser.add_argument(
        "--watch",
        nargs="?",
        const=_USUAL,
        metavar="TIME",
        help=f"ask a live cluster again every so often (default {_USUAL}), and print the answer when it has changed; Ctrl-C ends that",
    )


def answered(command: str, arguments: argparse.Namespace, answer: Callable[[argparse.Namespace], int]) -> int:
    """Print the answer of a command, once or, with `--watch`, again and again. Return its exit code."""
    from harness.cli.worlds import InputError

    try:
        seconds = _interval(arguments)
    except InputError as error:
        return bad_input(f"harness {command}: {error}")
    return answer(arguments) if seconds is None else _again_and_again(lambda: answer(arguments), seconds)


def _interval(arguments: argparse.Namespace) -> float | None:
    """Return the seconds between two questions, None for a single one. Raises InputError."""
    from harness.cli.durations import seconds_of
    from harness.cli.worlds import InputError

    if arguments.watch is None:
        return None
    if arguments.context is None and arguments.kubeconfig is None:
        raise InputError("--watch is for a live cluster: --context NAME")
    try:
        seconds = seconds_of(arguments.watch)
    except ValueError as error:
        raise InputError(f"--watch: {error}") from None
    if seconds < _LEAST:
        raise InputError(f"--watch {arguments.watch}: one second is the shortest")
    return seconds


def _again_and_again(answer: Callable[[], int], seconds: float) -> int:
    """Print an answer whenever it differs from the one before, until Ctrl-C. Return its exit code.

    What goes wrong meanwhile is an answer, too: a cluster that does not answer may do so later.
    """
    code, before = 0, None
    try:
        while True:
            out, errors = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(errors):
                code = answer()
            if (text := out.getvalue() + errors.getvalue()) != before:
                if before is not None:
                    print_line()
                print_line(f"at {time.strftime('%H:%M:%S')}", flush=True)
                print_lines(text.removesuffix("\n"), flush=True)
                before = text
            time.sleep(seconds)
    except KeyboardInterrupt:
        return code
