"""Manifests for `explain` and `simulate`: the options beside them, what is added to them, and how a world takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import bad_input, show
from harness.cli.outside import add_allow_outside
from harness.cli.worlds import add_as_of
from lazyrecords import dataclass
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.karpenter.validation import Rejection
    from harness.reading.manifests import Manifest
    from harness.reading.problems import Mark, ScenarioError
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = [
    "FAILURES",
    "Refused",
    "add_inputs",
    "add_live",
    "add_options",
    "add_spot_discount",
    "apply_manifests",
    "bad_files",
    "check_fail_on",
    "fails",
    "inputs_given",
    "market",
    "options_given",
    "refusals",
    "settle",
    "show_head",
    "world_of",
]

FAILURES = {
    "pending": "a pod that no Node takes",
    "rejected": "an object of Karpenter's or a request to Azure that was refused",
    "unsettled": "a world that does not come to rest",
    "not-simulated": "an object that the simulation leaves out",
}
"""The words of `--fail-on`."""
_MANIFESTS = (
    "Kubernetes manifests: NodePools, AKSNodeClasses, pods and what makes pods; folders of them; - is standard input"
)
_FAULT_KEYS = ("size", "family", "zone", "priority", "times", "at", "message")


def add_inputs(parser: argparse.ArgumentParser, *, fail_on: bool = True, files: str = _MANIFESTS) -> None:
    """Declare the options of the inputs, and with `fail_on` those of failures. `files`: the help of the files."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help=files,
    )
    add_allow_outside(parser, scenarios=False)
    add_live(parser)
    parser.add_argument("--release", metavar="R", help=f"release of the provider (default {DEFAULT_RELEASE})")
    parser.add_argument("--region", metavar="R", help="Azure region (default eastus)")
    add_as_of(parser)
    parser.add_argument("--kubernetes", metavar="V", help="Kubernetes version")
    parser.add_argument("--mode", metavar="M", help="provision mode")
    add_options(parser)
    parser.add_argument(
        "--quota",
        action="append",
        default=[],
        metavar="NAME=N",
        help="vCPU limit, for example cores=8 (repeat for more)",
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="CODE[,KEY=VALUE…]",
        help="a failure of Azure, for example SkuNotAvailable,zone=1,times=always (keys: size, zone, priority, times, at)",
    )
    add_spot_discount(parser)
    if not fail_on:
        parser.set_defaults(fail_on=[])
        return
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="WHAT[,WHAT…]",
        help=f"exit code 1 when there is one of: {', '.join(FAILURES)}",
    )


def add_live(parser: argparse.ArgumentParser) -> None:
    """Declare `--context` and `--kubeconfig`."""
    parser.add_argument(
        "--context",
        metavar="NAME",
        help="also the objects of a live cluster, a context of the kubeconfig; it is only read",
    )
    parser.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="FILE",
        help="the kubeconfig (default $KUBECONFIG, ~/.kube/config), its current context",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """`--option NAME=VALUE`."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="option of the controller, for example network-plugin=none (repeat for more; `harness options` lists them)",
    )


def add_spot_discount(parser: argparse.ArgumentParser, *, metavar: str = "PERCENT", several: str = "") -> None:
    """Declare `--spot-discount`; `several` is the meaning of more than one value."""
    parser.add_argument(
        "--spot-discount",
        metavar=metavar,
        help=f"what if spot cost that much less than on demand, for example 70%%{several} (default: Azure's prices)",
    )


def options_given(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the values of `--option`, by name. Raises InputError."""
    from harness.cli.worlds import InputError

    options: dict[str, str] = {}
    for text in arguments.option:
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise InputError(f"--option {text}: NAME=VALUE is expected, for example network-plugin=none")
        options[name] = value
    return options


def inputs_given(arguments: argparse.Namespace, dump: Dump) -> Inputs:
    """Return the options of `add_inputs`, over the inputs from the files. Raises InputError, ScenarioError."""
    from harness.cli.given_world import inputs_from

    words = {
        "karpenter": ("--release", arguments.release),
        "region": ("--region", arguments.region),
        "kubernetes": ("--kubernetes", arguments.kubernetes),
        "provision_mode": ("--mode", arguments.mode),
    }
    return inputs_from(dump, words, options_given(arguments))


def world_of(arguments: argparse.Namespace, inputs: Inputs) -> World:
    """A World of these inputs, in the state of Azure that the options of `add_inputs` describe. Raises InputError."""
    from harness.cli.given_world import world_from
    from harness.cli.worlds import InputError

    check_fail_on(arguments)
    try:
        return world_from(inputs, azure=market(arguments))
    except InputError as error:
        option = _option(arguments, error.mistake.path if error.mistake is not None else ())
        if not option:
            raise
        raise InputError(*f"{printable(option)}: {error}".split("\n"), mistake=error.mistake) from None


def _option(arguments: argparse.Namespace, path: Sequence[str | int]) -> str:
    """The option that a place in the state of Azure comes from: `--fault SkuNotAvailabel` for `azure.faults[0].what`."""
    match path:
        case ("azure", "faults", int(number), *_):
            return f"--fault {arguments.fault[number]}"
        case ("azure", "spotDiscount"):
            return "--spot-discount"
        case ("azure", "quota", name, *_):
            return next((f"--quota {text}" for text in arguments.quota if text.partition("=")[0] == name), "")
    return ""


def market(arguments: argparse.Namespace) -> dict[str, Any]:
    """The state of Azure that `--as-of`, `--quota`, `--fault` and `--spot-discount` describe. Raises InputError."""
    from fakeazure.market.spot_discount import SPOT_DISCOUNT
    from harness.cli.worlds import InputError
    from harness.reading.problems import did_you_mean

    texts = {"asOf": arguments.as_of, SPOT_DISCOUNT: arguments.spot_discount}
    value: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
    for text in arguments.quota:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal():
            raise InputError(f"--quota {text}: NAME=N with a whole number from 0 is expected, for example cores=8")
        value.setdefault("quota", {})[name] = int(number)
    for text in arguments.fault:
        kind, *pairs = text.split(",")
        fault: dict[str, Any] = {"what": kind}
        for pair in pairs:
            key, sign, word = pair.partition("=")
            if not sign or key not in _FAULT_KEYS:
                hint = did_you_mean(key, _FAULT_KEYS) if key not in _FAULT_KEYS else "KEY=VALUE is expected"
                raise InputError(f"--fault {text}: unknown part '{pair}'; {hint}")
            if key in ("times", "at", "message"):
                fault[key] = int(word) if word.isdecimal() else word
            else:
                fault.setdefault("where", {})[key] = word
        value.setdefault("faults", []).append(fault)
    return value


def apply_manifests(
    world: World,
    manifests: Sequence[Manifest],
    *,
    complete: bool = True,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda obj: obj,
) -> list[str]:
    """Apply them, a default AKSNodeClass or NodePool first where there is none. Return the added objects.

    `complete`: there are no others, so that missing ones are added. `change` makes the applied object of each. Raises
    ScenarioError for every object that is refused, at the place of the field at fault.
    """
    from harness.explain.labels.probes import default_objects
    from harness.reading.problems import Problem, ScenarioError
    from harness.scenario.language.dumps import deleted

    kinds = {manifest.kind for manifest in manifests}
    added = [obj for obj in default_objects() if complete and obj["kind"] not in kinds]
    world.apply(*added)
    problems = [
        Problem(
            refused.mark,
            str(refused.rejection.layer),
            f"{refused.rejection.object}: {refused.rejection.text}",
            refused.hint,
        )
        for refused in refusals(world, manifests, change)
    ]
    if problems:
        raise ScenarioError(problems)
    for manifest in deleted(manifests):
        world.delete(manifest.kind, manifest.name)
    return [_name(obj) for obj in added]


@dataclass(frozen=True, slots=True)
class Refused:
    """An object of a file that an API server, or Karpenter's validation, does not take: why, the field at fault, what would be right."""

    manifest: Manifest
    rejection: Rejection
    mark: Mark
    hint: str


def refusals(
    world: World,
    manifests: Iterable[Manifest],
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda obj: obj,
) -> Iterator[Refused]:
    """Apply the objects, those first to which others refer, and yield what is refused: all that commands say of it comes from here."""
    from harness.kube.api.objects import Frozen
    from harness.kube.custom_resources.admission import UNCHECKED
    from harness.scenario.language.dumps import as_new, in_order
    from harness.world.refused import class_hint

    for manifest in in_order(manifests):
        refused = world.apply(Frozen(change(as_new(manifest.object))))
        # that there may be more mistakes is none, and would stand first
        for rejection in [refusal for refusal in refused if UNCHECKED not in refusal.text] or refused:
            hint = manifest.type_hint(rejection.pointer, rejection.text) or class_hint(rejection.text, world.view)
            yield Refused(manifest, rejection, manifest.document.position(rejection.pointer), hint)


def bad_files(command: str, arguments: argparse.Namespace, error: ScenarioError) -> int:
    """Print the mistakes in the files, and in the options of `add_inputs`: one mistake does not hide the other. Return 2."""
    from harness.cli.worlds import InputError
    from harness.reading.problems import ScenarioError
    from harness.scenario.language.dumps import Dump

    try:
        world_of(arguments, inputs_given(arguments, Dump(())))
    except InputError as also:
        bad_input(f"harness {command}: {also}")
    except ScenarioError:
        pass  # the files have said so
    return bad_input(error, arguments.format, getattr(arguments, "markdown", None))


def check_fail_on(arguments: argparse.Namespace) -> set[str]:
    """The words of `--fail-on`. Raises InputError for one that means nothing."""
    from harness.cli.worlds import InputError
    from harness.wording import did_you_mean

    words = {word.strip() for text in arguments.fail_on for word in text.split(",")}
    for word in sorted(words - FAILURES.keys()):
        raise InputError(f"--fail-on {word}: unknown failure; {did_you_mean(word, FAILURES)}")
    return words


def fails(arguments: argparse.Namespace, world: World, dump: Dump, motion: str) -> bool:
    """Return whether there is something of which `--fail-on` speaks."""
    from harness.explain.pods.unused import refused_lines

    words = check_fail_on(arguments)
    if "pending" in words and any(not (pod.get("spec") or {}).get("nodeName") for pod in world.view.list("Pod")):
        return True
    refused = bool(world.refused_calls())
    return (
        ("rejected" in words and (refused or bool(world.rejections) or any(refused_lines(world))))
        or ("unsettled" in words and bool(motion))
        or ("not-simulated" in words and bool(dump.unused))
    )


def show_head(
    differences: Iterable[str], head: Iterable[str], added: Sequence[str], dump: Dump, unused: Iterable[str]
) -> None:
    """Show the lines above an answer: where it is not about the dump's cluster as it was, inputs, additions to the
    files and omissions, and unused objects.
    """
    for line in (*differences, *head):
        show(line)
    if added:
        print_line(f"added, because no file has one: {', '.join(added)}")
    for line in (*dump.notes(), *unused):
        show(line)


def _name(obj: Mapping[str, Any]) -> str:
    return f"{obj['kind']}/{obj['metadata']['name']}"


def settle(world: World) -> str:
    """Let the world come to rest; return the reason when it does not, empty when it does."""
    from harness.limits import with_remedy

    settled = world.settle(allow_rejections=True)
    if settled.runaway is not None:
        return str(settled.runaway)
    return with_remedy(settled.exhausted, settled.limit)
