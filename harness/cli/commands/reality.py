"""`harness reality`: how true the simulation is on a user's own cluster, fact by fact."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.manifests import add_inputs
from harness.cli.output import bad_input, no_environment, print_json, show
from plainlines import print_document, printable

if TYPE_CHECKING:
    from harness.reality.facts import Comparison
    from harness.reality.sharing import SharedFacts

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness reality`."""
    add_inputs(parser, fail_on=False)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the answer is printed")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="also write one HTML page of the comparison, which needs nothing else"
    )
    parser.add_argument(
        "--facts", type=Path, metavar="FILE", help="write what was compared as anonymous facts; they are shown first"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison.

    Exit code 0 where nothing differs, 1 where something does, 2 for bad input and where nothing can be compared, 3 without a cluster.
    """
    from harness.cli.destinations import check_outputs
    from harness.cli.live import Environment, read_given
    from harness.cli.manifests import bad_files, inputs_given, world_of
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError
    from harness.reality.comparing import comparisons
    from harness.reality.facts import State
    from harness.reality.sharing import shared
    from harness.scenario.language.dumps import not_simulated_lines

    try:
        check_outputs(arguments, "html", "facts")
        dump = read_given(arguments)
        inputs = inputs_given(arguments, dump)
        world = world_of(arguments, inputs)
        compared = list(comparisons(dump, world))
    except InputError as error:
        return bad_input(f"harness reality: {error}")
    except Environment as error:
        return no_environment(f"harness reality: {error}")
    except ScenarioError as error:
        return bad_files("reality", arguments, error)
    comparable = any(comparison.state is not State.INCOMPARABLE for comparison in compared)
    facts = shared(compared, dump, world) if arguments.facts is not None and comparable else None
    notes = [*dump.live, *not_simulated_lines(dump.not_simulated)]
    _answer(arguments, {"read": inputs.value(), "notes": notes}, [*inputs.head(world), *notes], compared, facts)
    if not comparable:
        return bad_input(printable(f"harness reality: nothing could be compared: {_why_nothing(compared)}"))
    return int(any(comparison.state is State.DIFFERENT for comparison in compared))


def _answer(
    arguments: argparse.Namespace,
    read: Mapping[str, object],
    head: Sequence[str],
    compared: Sequence[Comparison],
    facts: SharedFacts | None,
) -> None:
    """Print the comparison, write its page, and show and write the `facts` that are to be shared."""
    from harness.outputs import write_text
    from harness.reports.picture.reality import reality_page

    values = [comparison.value() for comparison in compared]
    if arguments.html is not None:
        write_text(arguments.html, reality_page("How true is the simulation on this cluster?", head, values))
    if arguments.format == "json":
        print_json({**read, "facts": values, **_shared_value(facts)})
    else:
        for line in (*head, *_lines(compared)):
            show(line)
    if facts is not None:
        _share(arguments, facts)


def _why_nothing(compared: Sequence[Comparison]) -> str:
    """Return the reason of most facts."""
    reasons = Counter(comparison.why for comparison in compared).most_common(1)
    return reasons[0][0] if reasons else "there is no Node and no NodeClaim"


def _lines(compared: Sequence[Comparison]) -> Iterator[str]:
    """The count of each state, then each field that differs with its first place, then why the rest cannot be compared."""
    from harness.reality.facts import State

    count = Counter(comparison.state for comparison in compared)
    objects = len({comparison.object for comparison in compared})
    yield f"{len(compared)} facts of {objects} objects: " + ", ".join(f"{count[state]} {state}" for state in State)
    fields = Counter(comparison.field for comparison in compared if comparison.state is State.DIFFERENT)
    for field, times in sorted(fields.items(), key=lambda pair: (-pair[1], pair[0])):
        first = next(
            comparison for comparison in compared if comparison.field == field and comparison.state is State.DIFFERENT
        )
        yield f"different in {times}: {field}: {first.theirs}, here {first.ours} ({first.object}, {first.place})"
    reasons = Counter(comparison.why for comparison in compared if comparison.state is State.INCOMPARABLE)
    for why, times in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"not comparable, {times}: {why}"


def _shared_value(facts: SharedFacts | None) -> dict[str, object]:
    """Return the part of the answer in JSON that has the facts to share."""
    return {} if facts is None else {"shared": facts.entries, "left_out": facts.left_out}


def _share(arguments: argparse.Namespace, facts: SharedFacts) -> None:
    """Write the facts after they were shown, in JSON as a part of the answer, and say what is left out of them."""
    import yaml

    from harness.outputs import write_text

    text = yaml.safe_dump(list(facts.entries), sort_keys=False, width=120)
    if arguments.format == "text":
        for why, times in sorted(facts.left_out.items(), key=lambda pair: (-pair[1], pair[0])):
            show(f"left out of the facts, {times}: {why}")
        print_document(text)
    write_text(arguments.facts, text)
