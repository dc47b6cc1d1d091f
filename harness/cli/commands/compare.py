"""`harness compare`: what differs between two traces, or between what comes of two situations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_spot_discount
from harness.cli.output import bad_input, no_environment, print_json, show
from harness.cli.outside import add_allow_outside
from harness.cli.pictures import add_html
from plainlines import print_document, printable

if TYPE_CHECKING:
    from harness.explain.traces.grouping import Group
    from harness.trace.comparing import Comparison

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness compare`."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="two traces, scenario files, manifests or folders of manifests; or one of them, and an option with two values",
    )
    parser.add_argument("-k", metavar="TEXT", help="only cases of scenario files whose name contains this text")
    for option, subject in (
        ("release", "releases of the provider, for example 1.13.1,1.14.0"),
        ("region", "regions, for example eastus,westeurope"),
        ("cluster", "clusters: memory, http, apiserver, kind"),
        ("karpenter", "Karpenters: simulated,real (the real one by HARNESS_KARPENTER)"),
    ):
        parser.add_argument(f"--{option}", metavar="A,B", help=f"one for both sides, or two {subject}")
    add_spot_discount(parser, metavar="A,B", several="; one for both sides, or two")
    parser.add_argument(
        "--kubernetes",
        metavar="V",
        help="of both sides (default: what the files say; where only the releases differ, the older one's)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every difference, and those that are kept")
    add_html(parser)
    add_allow_outside(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="form of the output (default text)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the differences: 0 when there are none but kept ones, 1 when there are."""
    from harness.cli.compare_sides import compared_traces
    from harness.cli.destinations import check_outputs, scenario_inputs
    from harness.cli.pictures import Opening, write_comparisons
    from harness.cli.worlds import InputError
    from harness.clusters.control_plane.pki import MissingTool
    from harness.clusters.errors import ClusterFailed
    from harness.explain.traces.cost_texts import cost_lines, cost_value, supposed_lines, supposed_of
    from harness.explain.traces.group_texts import group_value, summary_text
    from harness.explain.traces.grouping import grouped
    from harness.reading.problems import ScenarioError
    from harness.reports.markdown import comparison
    from harness.scenario.language.crds import CelEngineMissing
    from harness.trace import TraceError
    from harness.trace.comparing import compare_traces
    from harness.trace.figures import figures_of

    try:
        check_outputs(arguments, "html", read=scenario_inputs(arguments.files))
        compared = compared_traces(arguments)
        traces, note, notes = compared.traces, compared.note, compared.notes
        comparisons = [(name, compare_traces(left, right)) for name, left, right in traces]
        costs = [(name, figures_of(left), figures_of(right)) for name, left, right in traces]
        supposed = supposed_of(traces)
        opening = [*cost_lines(costs, supposed)]
        groups = grouped(comparisons)
        if arguments.html is not None:
            page = Opening(groups, opening, "; ".join(filter(None, (note, *notes))))
            write_comparisons(arguments.html, arguments.files, traces, comparisons, page)
    except (InputError, TraceError) as error:
        return bad_input(f"harness compare: {error}")
    except OSError as error:
        return bad_input(printable(f"harness compare: {error.filename}: {error.strerror}"))
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    except (CelEngineMissing, ClusterFailed, MissingTool) as error:
        return no_environment(f"harness compare: {error}")
    code = int(any(comparison.real for _, comparison in comparisons))
    if arguments.format == "json":
        value = {
            "note": note,
            "notes": notes,
            "costs": cost_value(costs),
            "supposed": [*supposed_lines(supposed)],
            "groups": [group_value(group) for group in groups],
            "comparisons": [_value(name, comparison) for name, comparison in comparisons],
        }
        print_json(value)
        return code
    if arguments.format == "markdown":
        print_document(comparison(opening, summary_text(comparisons, groups), (*notes, note), groups))
        return code
    for line in (*opening, *_lines(comparisons, groups, (*notes, note), verbose=arguments.verbose)):
        show(line)
    return code


def _lines(
    comparisons: Sequence[tuple[str, Comparison]], groups: Sequence[Group], notes: Sequence[str], *, verbose: bool
) -> Iterator[str]:
    """Yield the groups, over all cases; with `verbose` every difference of each case, too."""
    from harness.explain.traces.group_texts import group_lines, missing_lines, summary_text
    from harness.explain.traces.sides import side_lines

    yield summary_text(comparisons, groups)
    yield from filter(None, notes)
    yield from group_lines(groups)
    yield from missing_lines(comparisons)
    for name, comparison in comparisons if verbose else ():
        if comparison.differences:
            yield ""
            yield f"every difference{f' of {name}' if name else ''}"
        for difference in comparison.differences:
            yield from side_lines(difference)


def _value(name: str, comparison: Comparison) -> dict[str, Any]:
    return {
        "name": name,
        "situations": [
            {"what": subject, "left": left, "right": right} for subject, left, right in comparison.situations
        ],
        "same": comparison.same,
        "differences": [
            {
                "fact": difference.fact,
                "left": difference.left,
                "right": difference.right,
                **({"kept": difference.kept} if difference.kept else {}),
            }
            for difference in comparison.differences
        ],
    }
