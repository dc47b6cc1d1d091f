"""Output of all subcommands: where it goes, in which form, and how bad input ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from shlex import join
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from harness.reading.problems import ScenarioError
from plainlines import print_commands, print_document, print_line, print_lines, printable

if TYPE_CHECKING:
    from harness.reports.annotations import Annotation

__all__ = [
    "add_format",
    "add_forms",
    "bad_input",
    "colour",
    "command_text",
    "display_name",
    "fitted",
    "no_environment",
    "print_found",
    "print_json",
    "show",
    "show_text",
    "virtual",
    "write_found",
]

BAD_INPUT = 2
NO_ENVIRONMENT = 3


def add_format(parser: argparse.ArgumentParser) -> None:
    """`--format text|json`."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the output (default text)")


def add_forms(parser: argparse.ArgumentParser, *, junit: bool = True) -> None:
    """`--format` with the forms that are shown beside the code, or on the page of a pull request."""
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github", "markdown", *(("junit",) if junit else ())),
        default="text",
        help="form of the output: text, json, sarif, github (workflow commands), markdown"
        f"{', junit' if junit else ''} (default text)",
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="also write it as Markdown, for example for the summary of a CI job",
    )


def write_found(raised: Callable[[], Sequence[Annotation]], path: Path | None) -> None:
    """Write findings to the file that `--markdown` names, where it names one. Raises OSError."""
    if path is not None:
        from harness.outputs import write_text
        from harness.reports.markdown import findings

        write_text(path, findings(raised()))


def print_found(raised: Sequence[Annotation], form: str) -> None:
    """Print findings as SARIF, workflow commands, JUnit XML or Markdown."""
    from harness import __version__

    if form == "markdown":
        from harness.reports.markdown import findings

        print_document(findings(raised))
        return
    from harness.reports.annotations import FORMS

    (print_commands if form == "github" else print_document)(FORMS[form](raised, __version__))


def colour() -> bool:
    """Return whether standard output takes colours: a terminal, and NO_COLOR not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def virtual(seconds: float) -> str:
    """A duration of the simulation's own clock, which no reader should take for time that they waited."""
    from harness.wording import duration_text

    return f"{duration_text(seconds)} of virtual time"


def fitted(text: str, width: int) -> str:
    """The text with lines broken between words, what goes on indented below its line; words are never broken."""
    from textwrap import wrap  # only a terminal needs it

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
    """Print a line of text; on a terminal fitted to its width, elsewhere as it is, for other programs to read."""
    show_text(printable(text))


def show_text(text: str) -> None:
    """The same for a text of several lines, made by `joined` of what comes from outside."""
    print_lines(fitted(text, get_terminal_size().columns) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """A value as indented JSON on standard output."""
    from harness.reports.as_json import render

    print_document(render(value) + "\n")


def bad_input(error: ScenarioError | str, form: str = "text", markdown: Path | None = None) -> int:
    """Print each mistake of the input in a line, and write those of files to `markdown`. Returns exit code 2; raises OSError."""
    if isinstance(error, str):
        print_lines(error, error=True)
        return BAD_INPUT
    if markdown is not None:
        from harness.reports.annotations import annotations_of

        write_found(lambda: annotations_of(error), markdown)
    if form == "json":
        from harness.reports.as_json import problems_value

        print_json(problems_value(error))
    elif form != "text":
        from harness.reports.annotations import annotations_of

        print_found(annotations_of(error), form)
    else:
        for problem in error.problems:
            print_line(str(problem), error=True)
    return BAD_INPUT


def no_environment(text: str) -> int:
    """Print the text about a missing environment. Return exit code 3."""
    print_lines(text, error=True)
    return NO_ENVIRONMENT


def display_name(path: Path) -> str:
    """A file's name for messages: relative to the working directory where it lies below it; one like an option after `./`."""
    try:
        absolute = Path(os.path.abspath(path))  # links keep the name that was given
        name = next(
            (str(absolute.relative_to(folder)) for folder in _here() if absolute.is_relative_to(folder)), str(path)
        )
    except OSError:  # in a directory that is gone
        return str(path)
    return os.path.join(os.curdir, name) if name.startswith("-") and name != "-" else name


def _here() -> Iterator[str]:
    """The working directory, and the name under which the shell came to it where that goes through a link."""
    yield os.getcwd()
    logical = os.environ.get("PWD", "")
    if os.path.isabs(logical) and os.path.isdir(logical) and os.path.samefile(logical, os.curdir):
        yield os.path.normpath(logical)


def command_text(arguments: argparse.Namespace) -> str:
    """The command that was given, for others to run: files that it names by whole paths as `display_name` has them."""
    values = [item for value in vars(arguments).values() for item in (value if isinstance(value, list) else [value])]
    paths = {value for value in values if isinstance(value, Path) and value.is_absolute()}
    return join(["harness", *(_word_text(word, paths) for word in arguments.words)])


def _word_text(word: str, paths: Collection[Path]) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}{display_name(Path(value))}" if Path(value) in paths else word
