"""`harness capture`: a runnable scenario from a dump or a live cluster, which may be shown to others."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.manifests import add_live
from harness.cli.output import bad_input, display_name, no_environment
from harness.cli.outside import add_allow_outside
from harness.outputs import write_text
from plainlines import print_document, print_line, printable

if TYPE_CHECKING:
    from harness.reading.problems import Problem
    from harness.scenario.language.dumps import Dump

__all__ = ["add_arguments", "given_of", "run", "tell_left_out"]

_OPTIONS = {
    "network_plugin": "azure|none",
    "network_plugin_mode": "overlay|none|",
    "network_policy": "azure|calico|cilium|none|",
    "network_dataplane": "azure|cilium|",
    "preference_policy": "Respect|Ignore",
    "min_values_policy": "Strict|BestEffort",
    "vm_memory_overhead_percent": r"[0-9.]{1,8}",
}
"""Options of the controller that decide something and say nothing of whose cluster it is, and what they may say."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness capture`."""
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="what kubectl get -o yaml prints; folders; - is standard input",
    )
    add_allow_outside(parser, scenarios=False)
    add_live(parser)
    about = parser.add_mutually_exclusive_group()
    about.add_argument(
        "--pod", default="", metavar="NS/NAME", help="only what decides about this pod, or Deployment/NAME"
    )
    about.add_argument("--node", default="", metavar="NAME", help="what decides about this Node, with what runs where")
    parser.add_argument(
        "--anonymise", action="store_true", help="other names, labels and values; the same for the same"
    )
    parser.add_argument(
        "--keep-placement", action="store_true", help="bound pods stay on their Nodes, in place of their controllers"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="given.seed of the scenario (default 0)")
    parser.add_argument("--release", metavar="R", help="release of the provider (default: what the files say)")
    parser.add_argument("--region", metavar="R", help="Azure region (default: what the files say)")
    parser.add_argument("--kubernetes", metavar="V", help="Kubernetes version (default: what the files say)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the scenario file (default: standard output)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the scenario. Exit code 0; 2 for input that cannot be captured."""
    from harness.capture.case import NothingLeft, NotRepeated, captured
    from harness.capture.selection import NothingNamed, Question
    from harness.cli.destinations import check_outputs
    from harness.cli.live import Environment, read_given
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError, did_you_mean

    unknown: list[Problem] = []
    try:
        check_outputs(arguments, "output")
        dump = read_given(arguments, unknown)
        case_inputs = given_of(dump, arguments.release, arguments.region, arguments.kubernetes)
        case_inputs |= {"seed": arguments.seed} if arguments.seed else {}
        question = Question(arguments.pod, arguments.node, arguments.keep_placement)
        text = captured(dump, case_inputs, question, anonymise=arguments.anonymise)
    except InputError as error:
        return bad_input(f"harness capture: {error}")
    except Environment as error:
        return no_environment(f"harness capture: {error}")
    except ScenarioError as error:
        return bad_input(error)
    except NothingNamed as error:
        hint = did_you_mean(arguments.pod or arguments.node, error.known)
        return bad_input(printable(f"harness capture: {error}" + (f"; {hint}" if hint else "")))
    except (NothingLeft, NotRepeated) as error:
        return bad_input(printable(f"harness capture: {error}"))
    tell_left_out(unknown)
    if arguments.output is None:
        print_document(text)
        return 0
    write_text(arguments.output, text)
    objects = text.count("\n---\n")
    name = display_name(arguments.output)
    print_line(f"{name}: {objects} objects, {len(text.encode()) / 1024:.1f} KiB; harness run {name}")
    return 0


def tell_left_out(unknown: Sequence[Problem]) -> None:
    """Print a line for each field that no known release has: it is left out of the case."""
    for problem in unknown:
        print_line(f"left out: {problem}", error=True)


def given_of(
    dump: Dump, release: str | None = None, region: str | None = None, kubernetes: str | None = None
) -> dict[str, Any]:
    """Return the inputs of a dump's scenario: those given here, else the dump's; of the controller's options those that
    may be told.

    Raises ScenarioError.
    """
    from harness.cli.assumptions import inputs_of
    from harness.karpenter.releases import DEFAULT_RELEASE, find_option, provider

    words = {
        "karpenter": ("--release", release),
        "region": ("--region", region),
        "kubernetes": ("--kubernetes", kubernetes),
    }
    inputs = inputs_of([*dump.manifests, *dump.not_simulated], words, {})
    default = provider(DEFAULT_RELEASE).defaults.region
    case_inputs: dict[str, Any] = {"karpenter": DEFAULT_RELEASE, "region": default, **inputs.arguments}
    if any(fact.name == "hosting" and fact.value == "nap" for fact in inputs.read):
        case_inputs["hosting"] = "nap"
    options = {}
    for name, value in inputs.options.items():
        option = find_option(name)
        if option is None:
            continue
        if option.field == "feature_gates" and (gates := _public_gates(str(value))):
            options[option.name] = gates
        elif re.fullmatch(_OPTIONS.get(option.field, "(?!)"), str(value)):
            options[option.name] = str(value)
    return {**case_inputs, **({"options": options} if options else {})}


def _public_gates(text: str) -> str:
    """The gates that a release has, of `NAME=true,NAME=false`."""
    from harness.karpenter.releases import KNOWN_RELEASES, provider

    gates = frozenset[str]().union(*(provider(release).core.gates for release in KNOWN_RELEASES))
    pairs = [pair.strip().partition("=") for pair in text.split(",")]
    return ",".join(f"{name}={value}" for name, _, value in pairs if name in gates and value in ("true", "false"))
