"""`harness reality`: how true the simulation is on a user's own cluster, fact by fact."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.output import bad_input, no_environment, print_json, show
from plainlines import print_document

if TYPE_CHECKING:
    from harness.reality.facts import Comparison

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness reality`."""
    add_inputs(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the answer is printed")
    parser.add_argument(
        "--facts", type=Path, metavar="FILE", help="write what was compared as anonymous facts; they are shown first"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the comparison. Exit code 0 where nothing differs, 1 where something does, 2 for bad input."""
    from harness.cli.destinations import check_outputs
    from harness.cli.live import Environment, read_given
    from harness.cli.manifests import bad_files, inputs_given, world_of
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError
    from harness.reality.comparing import comparisons
    from harness.reality.facts import State

    try:
        check_outputs(arguments, "facts")
        dump = read_given(arguments)
        inputs = inputs_given(arguments, dump)
        world = world_of(arguments, inputs)
        found = list(comparisons(dump, world))
    except InputError as error:
        return bad_input(f"harness reality: {error}")
    except Environment as error:
        return no_environment(f"harness reality: {error}")
    except ScenarioError as error:
        return bad_files("reality", arguments, error)
    if arguments.format == "json":
        print_json({"read": inputs.value(), "facts": [comparison.value() for comparison in found]})
    else:
        for line in (*inputs.head(world), *_lines(found)):
            show(line)
    if arguments.facts is not None:
        _share(arguments.facts, found)
    return int(any(comparison.state is State.DIFFERENT for comparison in found))


def _lines(found: Sequence[Comparison]) -> Iterator[str]:
    """The count of each state, then each field that differs with its first place, then why the rest cannot be compared."""
    from harness.reality.facts import State

    count = Counter(comparison.state for comparison in found)
    objects = len({comparison.object for comparison in found})
    yield f"{len(found)} facts of {objects} objects: " + ", ".join(f"{count[state]} {state}" for state in State)
    fields = Counter(comparison.field for comparison in found if comparison.state is State.DIFFERENT)
    for field, times in sorted(fields.items(), key=lambda pair: (-pair[1], pair[0])):
        first = next(one for one in found if one.field == field and one.state is State.DIFFERENT)
        yield f"different in {times}: {field}: {first.theirs}, here {first.ours} ({first.object}, {first.place})"
    reasons = Counter(comparison.why for comparison in found if comparison.state is State.INCOMPARABLE)
    for why, times in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"not comparable, {times}: {why}"


def _share(path: Path, found: Sequence[Comparison]) -> None:
    """Shows the facts, then writes them."""
    import yaml

    from harness.outputs import write_text
    from harness.reality.sharing import shared

    text = yaml.safe_dump(shared(found), sort_keys=False, width=120)
    print_document(text)
    write_text(path, text)
