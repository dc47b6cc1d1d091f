"""`harness shrink`: the smallest scenario that comes to the same, to be read and to be shown."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import bad_input, display_name
from harness.cli.outside import add_allow_outside, checkout_given
from harness.outputs import write_text
from plainlines import print_document, print_line, print_over, printable

if TYPE_CHECKING:
    from harness.reading.problems import Problem
    from harness.scenario.language.cases import Case

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness shrink`."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a scenario, or a dump as kubectl get -o yaml prints it"
    )
    parser.add_argument("--keep", required=True, metavar="VERDICT", help="what it has to come to: pending[=TEXT], rejected[=TEXT], "
                        "unsettled, failed, then, error")  # fmt: skip
    parser.add_argument(
        "-k",
        dest="case",
        default="",
        metavar="WORDS",
        help="the case whose name has this text in it (default: the first)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the small scenario (default: standard output)"
    )
    add_allow_outside(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the small scenario. Exit code 0, also after Ctrl-C: it is then the smallest so far; 2 for bad input."""
    from harness.cli.destinations import check_outputs, files_of
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError
    from harness.shrink.shrinking import shrink
    from harness.shrink.verdicts import UnknownVerdict

    shown = sys.stderr.isatty()

    def tell(line: str) -> None:
        if shown:
            print_over(line, 40)

    try:
        check_outputs(arguments, "output")
        case = _case(arguments)
        check_outputs(arguments, "output", read=files_of([case]))
        smallest = shrink(case, arguments.keep, tell)
    except InputError as error:
        return bad_input(f"harness shrink: {error}")
    except ScenarioError as error:
        return bad_input(error)
    except (UnknownVerdict, LookupError) as error:
        return bad_input(printable(f"harness shrink: {error}"))
    if shown:
        print_line(error=True)
    for note in case.notes:
        print_line(note, error=True)
    size = f"{smallest.objects} objects, {len(smallest.text.encode())} bytes, {smallest.runs} runs"
    rest = "nothing more can go" if smallest.minimal else "interrupted: the smallest so far"
    if arguments.output is None:
        print_document(smallest.text)
        print_line(f"{size}; {rest}", error=True)
    else:
        write_text(arguments.output, smallest.text)
        print_line(f"{display_name(arguments.output)}: {size}; {rest}")
    return 0


def _case(arguments: argparse.Namespace) -> Case:
    """The case to make smaller; that of a dump is captured first. Raises ScenarioError, LookupError."""
    from harness.scenario.language.files import load, load_text
    from harness.sniffing import is_scenario_file

    name = display_name(arguments.file)
    if is_scenario_file(arguments.file):
        cases = [
            case
            for scenario in load(arguments.file, name, checkout=checkout_given(arguments))
            for case in scenario.cases
        ]
    else:
        from harness.capture.case import NotRepeated, captured
        from harness.capture.selection import Question
        from harness.cli.commands.capture import given_of, tell_left_out
        from harness.cli.given import read_files

        unknown: list[Problem] = []
        dump = read_files([arguments.file], unknown=unknown)
        tell_left_out(unknown)
        try:
            text = captured(dump, given_of(dump), Question(), anonymise=False)
        except NotRepeated as error:
            raise LookupError(str(error)) from None
        cases = [case for scenario in load_text(text, file=name) for case in scenario.cases]
    chosen = next((case for case in cases if arguments.case in case.name), None)
    if chosen is None:
        raise LookupError(f"{name}: no case has '{arguments.case}' in its name")
    return chosen
