"""What all subcommands share: where output goes, in which form, and how bad input ends."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from harness.reading.problems import ScenarioError

__all__ = [
    "add_format",
    "bad_input",
    "colour",
    "counted",
    "display_name",
    "fitted",
    "no_environment",
    "print_json",
    "show",
    "virtual",
]

BAD_INPUT = 2
NO_ENVIRONMENT = 3


def add_format(parser: argparse.ArgumentParser) -> None:
    """`--format text|json`."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the output (default text)")


def colour() -> bool:
    """Whether standard output takes colours: a terminal, and NO_COLOR not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def virtual(seconds: float) -> str:
    """A duration of the simulation's own clock, which no reader should take for time that they waited."""
    from harness.kube.go.durations import print_duration

    return f"{print_duration(round(seconds) * 1_000_000_000)} of virtual time"


def fitted(text: str, width: int) -> str:
    """The text with lines broken between words, what goes on indented below its line; words are never broken."""
    lines: list[str] = []
    for line in text.split("\n"):
        first = " " * (len(line) - len(line.lstrip()))
        below = f"{first}    "
        if len(line) > width:
            lines += wrap(
                line.strip(),
                width,
                initial_indent=first,
                subsequent_indent=below,
                break_long_words=False,
                break_on_hyphens=False,
            )
        else:
            lines.append(line)
    return "\n".join(lines)


def show(text: str) -> None:
    """Prints text; on a terminal with its lines fitted to the width, elsewhere as it is, for other programs to read."""
    print(fitted(text, get_terminal_size().columns) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """A value as indented JSON on standard output."""
    from harness.reports.as_json import render

    print(render(value))


def bad_input(error: ScenarioError | str, form: str = "text") -> int:
    """Says what is wrong with the input, one line for each mistake, and returns exit code 2."""
    if isinstance(error, str):
        print(error, file=sys.stderr)
    elif form == "json":
        from harness.reports.as_json import problems_value

        print_json(problems_value(error))
    else:
        for problem in error.problems:
            print(problem, file=sys.stderr)
    return BAD_INPUT


def no_environment(text: str) -> int:
    """Says what this machine lacks, and returns exit code 3."""
    print(text, file=sys.stderr)
    return NO_ENVIRONMENT


def display_name(path: Path) -> str:
    """A file's name for messages: relative to the working directory where it lies below it."""
    try:
        return str(Path(os.path.abspath(path)).relative_to(Path.cwd()))  # links keep the name that was given
    except (ValueError, OSError):  # elsewhere, or in a directory that is gone
        return str(path)
