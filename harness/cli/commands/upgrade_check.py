"""`harness upgrade-check`: what another release of the provider does to NodePools, AKSNodeClasses and pods."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import add_forms, bad_input, print_found, print_json, show, write_found
from harness.cli.outside import add_allow_outside, checkout_given
from harness.cli.pictures import add_html
from harness.cli.upgrade_page import TITLES, mark_of_finding, place_of_finding, running_nodes, write_page
from plainlines import print_line

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.cli.moves import Moves
    from harness.explain.upgrade import Finding
    from harness.karpenter.releases import ProviderRelease
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["add_arguments", "run"]

WORSE = 1
_SIGNS = {"worse": "!", "changed": "~", "better": "+", "same": "="}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness upgrade-check`."""
    parser.add_argument("--from", dest="before", required=True, metavar="R", help="release that runs today")
    parser.add_argument("--to", dest="after", required=True, metavar="R", help="release to upgrade to")
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="NodePools, AKSNodeClasses, pods and workloads; folders of them; - is standard input",
    )
    add_allow_outside(parser, scenarios=False)
    parser.add_argument("--region", metavar="R", help="Azure region (default: what the files say, else eastus)")
    parser.add_argument(
        "--kubernetes",
        metavar="V",
        help="Kubernetes version (default: what the files say, else the older of the two releases')",
    )
    parser.add_argument(
        "--to-kubernetes",
        metavar="V",
        help="then the control plane is upgraded to this version: which nodes are replaced, in which order and time, what it costs",
    )
    parser.add_argument(
        "--until",
        default="settled",
        metavar="TIME",
        help="how long that is looked at, for example 72h (default: until an hour passes in which nothing changes)",
    )
    parser.add_argument("--mode", metavar="M", help="provision mode of both; each release's default when absent")
    add_html(parser)
    add_forms(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes, with their places in the files.

    Exit code 1 when something changes for the worse, or new machines get no Nodes.
    """
    from harness.cli.worlds import InputError
    from harness.explain.upgrade import Effect
    from harness.reading.problems import ScenarioError

    try:
        checked = _checked(arguments)
    except InputError as error:
        return bad_input(f"harness upgrade-check: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format, arguments.markdown)
    write_found(checked.annotations, arguments.markdown)
    if arguments.format == "json":
        print_json(checked.value())
    elif arguments.format != "text":
        print_found(checked.annotations(), arguments.format)
    else:
        _show(checked)
    nodeless = checked.moves is not None and bool(checked.moves.failures)
    return WORSE if nodeless or any(finding.effect is Effect.WORSE for finding in checked.findings) else 0


@dataclass(frozen=True, slots=True)
class _Checked:
    """The changes from one release to another, and with a newer Kubernetes after it where that is asked for."""

    before: str
    after: str
    region: str
    kubernetes: str
    to_kubernetes: str | None
    given: Dump
    inputs: Inputs
    findings: Sequence[Finding]
    moves: Moves | None
    missing: list[str]
    """Nodes of the files for which there is no machine."""

    def annotations(self) -> list[Annotation]:
        """Return the findings beside the files, and what is not simulated of these."""
        from harness.reports.annotations import annotations_of_notes
        from harness.scenario.language.dumps import not_simulated_lines

        left_out = not_simulated_lines(self.given.not_simulated)
        return [*_annotations(self.findings, self.given.manifests), *annotations_of_notes(left_out)]

    def value(self) -> dict[str, Any]:
        """For JSON."""
        rollout = {"rollout": {**self.moves.value(), "without_machine": self.missing}} if self.moves is not None else {}
        return {
            "from": self.before,
            "to": self.after,
            "region": self.region,
            "kubernetes": self.kubernetes,
            "read": self.inputs.value(),
            **self.given.value(),
            "findings": [_value(finding, self.given.manifests) for finding in self.findings],
            **rollout,
        }


def _checked(arguments: argparse.Namespace) -> _Checked:
    """Tries the files under both releases, and writes the page where one is asked for. Raises InputError, ScenarioError."""
    from harness.cli.destinations import check_outputs
    from harness.cli.given_world import inputs_from, world_from
    from harness.explain.labels.comparison import common_kubernetes
    from harness.explain.upgrade import UpgradeCheck
    from harness.scenario.language.dumps import as_new

    def new_world(release: ProviderRelease, crds: str) -> World:
        return world_from(
            inputs, karpenter=release.version, crds=crds, kubernetes=kubernetes, provision_mode=arguments.mode
        )

    check_outputs(arguments, "html", "markdown")
    dump = _read(arguments)
    manifests = dump.manifests
    words = {
        "karpenter": ("--from", arguments.before),
        "region": ("--region", arguments.region),
        "kubernetes": ("--kubernetes", arguments.kubernetes),
    }
    inputs = inputs_from(dump, words)
    newest = world_from(inputs, {"karpenter": "--to"}, karpenter=arguments.after, provision_mode=arguments.mode)
    oldest = world_from(inputs, {"karpenter": "--from"}, karpenter=arguments.before, provision_mode=arguments.mode)
    # a cluster keeps its Kubernetes when Karpenter is upgraded, and older releases get no Nodes on newer ones
    kubernetes = inputs.arguments.get("kubernetes") or common_kubernetes([oldest.release, newest.release])
    check = UpgradeCheck(new_world, oldest.release, newest.release)
    findings = check.findings([as_new(manifest.object) for manifest in manifests])
    moves, missing = _moves(arguments, dump, new_world, newest.release, kubernetes)
    releases = (oldest.release.version, newest.release.version)
    if arguments.html is not None:
        running = running_nodes(findings, moves, missing, arguments.to_kubernetes)
        worlds = [new_world(release, release.crds) for release in (oldest.release, newest.release)]
        write_page(arguments, worlds, dump, findings, inputs, running)
    return _Checked(
        *releases,
        newest.region,
        kubernetes,
        to_kubernetes=arguments.to_kubernetes,
        given=dump,
        inputs=inputs,
        findings=findings,
        moves=moves,
        missing=missing,
    )


def _moves(
    arguments: argparse.Namespace,
    dump: Dump,
    new_world: Callable[[ProviderRelease, str], World],
    release: ProviderRelease,
    kubernetes: str,
) -> tuple[Moves | None, list[str]]:
    """Return the moves of nodes by an upgrade of Kubernetes, where it is asked for. Raises InputError, ScenarioError."""
    from harness.cli.durations import duration_of
    from harness.cli.rollout import rollout
    from harness.cli.worlds import InputError
    from harness.kube.api.versions import Version

    wanted = arguments.to_kubernetes
    if wanted is None:
        return None, []
    version, now = Version.find(wanted), Version.find(kubernetes)
    if version is None:
        raise InputError(f"--to-kubernetes: a version such as 1.35.2 is expected, not '{wanted}'")
    if now is not None and not version > now:
        raise InputError(f"--to-kubernetes: {wanted} is not later than {kubernetes}, which the cluster runs")
    try:
        seconds = duration_of(arguments.until)
    except ValueError as error:
        raise InputError(f"--until: {error}") from None
    return rollout(new_world(release, release.crds), dump, wanted, seconds)


def _read(arguments: argparse.Namespace) -> Dump:
    """The files. Where something is wrong with them, what is wrong with the options is said before. Raises ScenarioError."""
    from harness.cli.given import read_files
    from harness.cli.worlds import InputError, create_world
    from harness.reading.problems import ScenarioError

    try:
        return read_files(arguments.files, checkout=checkout_given(arguments))
    except ScenarioError:
        for option, release in (("--from", arguments.before), ("--to", arguments.after)):
            try:
                create_world({"karpenter": option}, karpenter=release)
            except InputError as error:
                bad_input(f"harness upgrade-check: {error}")
        raise


def _annotations(findings: Sequence[Finding], manifests: Sequence[Manifest]) -> list[Annotation]:
    """Return the changes as notes beside the files; those for the worse as errors."""
    from harness.reports.annotations import Annotation, Level

    levels: dict[str, Level] = {"worse": "error", "changed": "warning"}
    return [
        Annotation(
            levels.get(str(finding.effect), "note"),
            mark_of_finding(finding, manifests),
            finding.rule or finding.kind,
            f"{finding.object}: {finding.text}",
        )
        for finding in findings
    ]


def _value(finding: Finding, manifests: Sequence[Manifest]) -> dict[str, Any]:
    return {
        "effect": str(finding.effect),
        "object": finding.object,
        "kind": finding.kind,
        "place": place_of_finding(finding, manifests),
        "text": finding.text,
        "key": finding.key,
        "layer": finding.layer,
        "rule": finding.rule,
        "since": finding.since,
        "before": finding.before,
        "after": finding.after,
        "instead": list(finding.instead),
        "notes": list(finding.notes),
    }


def _show(checked: _Checked) -> None:
    for line in checked.inputs.lines():
        show(line)
    if checked.inputs.network:
        show(f"assumed: {checked.inputs.network}")
    print_line(f"provider {checked.before} → {checked.after}, {checked.region}, Kubernetes {checked.kubernetes}")
    for line in checked.given.notes():
        show(line)
    _show_findings(checked.findings, checked.given.manifests)
    if checked.moves is not None:
        print_line()
        print_line(f"Kubernetes {checked.kubernetes} → {checked.to_kubernetes} on provider {checked.after}")
        for line in (*(f"left out, {line}" for line in checked.missing), *checked.moves.lines()):
            show(line)


def _show_findings(findings: Sequence[Finding], manifests: Sequence[Manifest]) -> None:
    for name in dict.fromkeys(finding.object for finding in findings):
        print_line()
        print_line(name)
        own = [finding for finding in findings if finding.object == name]
        order = list(_SIGNS)
        for finding in sorted(own, key=lambda candidate: order.index(str(candidate.effect))):
            print_line(f"  {_SIGNS[finding.effect]} {place_of_finding(finding, manifests)}: {finding.text}")
            if finding.layer is not None:
                from_ = f", since {finding.since}" if finding.since else ""
                print_line(f"      by {finding.layer}, rule {finding.rule}{from_}")
            for text in finding.instead:
                print_line(f"      instead: {text}")
            for text in finding.notes:
                print_line(f"      {text}")
    counted = [(sum(str(finding.effect) == effect for finding in findings), title) for effect, title in TITLES.items()]
    counts = ", ".join(f"{number} {title}" for number, title in counted if number)
    print_line()
    print_line(counts or "nothing changes")
