"""`harness validate`: what the API server and Karpenter's own validation say to manifests, and nothing more: no world, no clock."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.lint import add_allow, allowed_codes, show_warnings, warnings_of, warnings_value
from harness.cli.output import add_forms, bad_input, display_name, print_found, print_json, show, write_found
from harness.cli.outside import add_allow_outside, checkout_given
from harness.wording import counted
from plainlines import print_line

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.reading.checkout import Checkout
    from harness.reading.manifests import Manifest
    from harness.reading.problems import Problem
    from harness.reports.annotations import Annotation
    from harness.scenario.language.cases import Case

__all__ = ["add_arguments", "run"]

REFUSED = 1

_CUSTOM = frozenset({"NodePool", "NodeClaim", "AKSNodeClass", "NodeOverlay"})


@dataclass(frozen=True, slots=True)
class _Group:
    """Objects that are on one cluster, and the release and Kubernetes version that judge them.

    `applied` come there in their order, as kubectl brings them; `others` are what a dump says of it, and are judged each alone.
    """

    applied: tuple[Manifest, ...]
    release: ProviderRelease
    kubernetes: str
    others: tuple[Manifest, ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All of them."""
        return (*self.applied, *self.others)

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """By which cases of a scenario that come to the same are judged once."""
        return self.release.version, self.kubernetes, *map(id, self.manifests)


@dataclass(frozen=True, slots=True)
class _Given:
    """The content of the files: the objects that are judged, whether there is anything else, and the release where there is no object."""

    groups: Sequence[_Group]
    unknown: bool
    release: ProviderRelease
    notes: Sequence[str]
    """Lines about the objects that are not simulated, and not judged."""

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases that judge, in the order of the files."""
        return tuple(dict.fromkeys(group.release.version for group in self.groups if group.manifests)) or (
            self.release.version,
        )

    @property
    def objects(self) -> int:
        """Return how many objects there are; one that several cases of a scenario have is one."""
        manifests = (manifest for group in self.groups for manifest in group.manifests)
        return len({(manifest.document.position(), manifest.reference) for manifest in manifests})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness validate`."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="manifests, or scenarios with the manifests that they name; folders of them; - is standard input",
    )
    parser.add_argument(
        "--release", metavar="R", help=f"release of the provider (default: what the files say, else {DEFAULT_RELEASE})"
    )
    parser.add_argument("--kubernetes", metavar="V", help="Kubernetes version (default: the release's)")
    add_allow(parser)
    add_forms(parser)
    add_allow_outside(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print each refusal and warning at its place.

    Exit code 0 when all is taken, 1 when something is refused, 2 for files that cannot be read. Warnings do not count.
    """
    from harness.cli.destinations import check_outputs
    from harness.cli.worlds import InputError, check_release
    from harness.kube.api.versions import version_mistake
    from harness.reading.problems import ScenarioError
    from harness.reports.annotations import annotations_of_notes

    try:
        check_outputs(arguments, "markdown")
        check_release(arguments.release)
        if arguments.kubernetes is not None and (mistake := version_mistake(arguments.kubernetes)):
            raise InputError(f"--kubernetes: {mistake}")
        allowed = allowed_codes(arguments)
        files = _read(arguments)
        if not files.objects and not files.unknown:
            raise InputError("there is no object in what is given")
        judged = [(group, list(_refusals(group))) for group in files.groups]
        refusals = list(dict.fromkeys(annotation for _, refused in judged for _, annotation in refused))
        warned = list(
            dict.fromkeys(warning for group, refused in judged for warning in _warnings(group, refused, allowed))
        )
    except InputError as error:
        return bad_input(f"harness validate: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format, arguments.markdown)
    raised = [*refusals, *warned, *annotations_of_notes(files.notes)]
    write_found(lambda: raised, arguments.markdown)
    nothing = "" if files.objects else "nothing to judge: there is no object of a kind that is simulated"
    if arguments.format == "json":
        values = [
            {"place": str(annotation.mark), "layer": annotation.rule, "text": annotation.text}
            for annotation in refusals
        ]
        print_json(
            {
                "release": ", ".join(files.releases),
                "objects": files.objects,
                "refused": values,
                "warnings": warnings_value(warned),
                "notes": list(files.notes),
            }
        )
    elif arguments.format == "text":
        for refusal in refusals:
            show(f"{refusal.mark}: {refusal.rule}: {refusal.text}")
        show_warnings(warned)
        for note in files.notes:
            show(note)
        text = nothing or f"{len(refusals) or 'nothing'} refused"
        text += f", {counted(len(warned), 'warning')}" if warned else ""
        print_line(f"provider {', '.join(files.releases)}: {counted(files.objects, 'object')}, {text}")
    else:
        print_found(raised, arguments.format)
    if nothing and arguments.format != "text":
        print_line(f"harness validate: {nothing}", error=True)
    return REFUSED if refusals else 0


def _read(arguments: argparse.Namespace) -> _Given:
    """The objects of all files; a scenario is read as a run reads it. Raises ScenarioError with every mistake of all files."""
    from harness.cli.assumptions import inputs_of
    from harness.cli.given import STDIN, read_files
    from harness.karpenter.releases import DEFAULT_RELEASE, provider
    from harness.reading.documents import read_stream
    from harness.reading.manifests import manifests_of_text
    from harness.reading.problems import ScenarioError
    from harness.reading.sources import files_in
    from harness.scenario.language.dumps import not_simulated_lines, sorted_dump
    from harness.sniffing import is_scenario_file, is_scenario_text

    problems: list[Problem] = []
    cases: list[Case] = []
    plain: list[Path] = []
    texts: list[Manifest] = []
    for path in arguments.files:
        try:
            if path == STDIN:
                read = read_stream(sys.stdin.buffer, "stdin")
                if is_scenario_text(read):
                    cases += _cases(path, read, arguments.release, checkout_given(arguments))
                else:
                    texts += manifests_of_text(read, "stdin")
                continue
            for file in files_in(path, display_name(path), checkout_given(arguments)):
                if is_scenario_file(file):
                    cases += _cases(file, None, arguments.release, checkout_given(arguments))
                else:
                    plain.append(file)
        except ScenarioError as error:
            problems += error.problems
    dump = sorted_dump(())
    try:
        dump = read_files(plain, texts)
    except ScenarioError as error:
        problems += error.problems
    if problems:
        raise ScenarioError(problems)
    manifests = [*dump.manifests, *dump.derived, *dump.finished, *dump.registered]
    inputs = inputs_of([*manifests, *dump.not_simulated], {"karpenter": ("--release", arguments.release)})
    release = provider(inputs.arguments.get("karpenter", DEFAULT_RELEASE))
    others = (*dump.derived, *dump.finished, *dump.registered)
    own = _Group(tuple(dump.manifests), release, arguments.kubernetes or release.defaults.kubernetes, others)
    groups = {group.identity: group for group in (own, *(_group(case, arguments.kubernetes) for case in cases))}
    notes = dict.fromkeys([*not_simulated_lines(dump.not_simulated), *(note for case in cases for note in case.notes)])
    return _Given(tuple(groups.values()), bool(cases or dump.not_simulated), release, tuple(notes))


def _cases(path: Path, text: str | None, release: str | None, checkout: Checkout | None) -> Sequence[Case]:
    """The cases of a scenario file, whose inputs exist. Raises ScenarioError."""
    from harness.scenario.language.files import load, load_text
    from harness.scenario.running.runner import Runner

    scenarios = (
        load(path, display_name(path), release=release, checkout=checkout)
        if text is None
        else load_text(text, file="stdin", release=release, checkout=checkout)
    )
    cases = [case for scenario in scenarios for case in scenario.cases]
    Runner().check_inputs(cases)
    return cases


def _group(case: Case, kubernetes: str | None) -> _Group:
    """The objects of a case and what it says judges them."""
    from harness.karpenter.releases import DEFAULT_RELEASE, provider
    from harness.scenario.language.inputs import world_arguments

    values = world_arguments(case.given)
    release = provider(values.get("karpenter", DEFAULT_RELEASE))
    return _Group(case.manifests, release, kubernetes or values.get("kubernetes") or release.defaults.kubernetes)


def _warnings(
    group: _Group, refused: Sequence[tuple[Manifest, Annotation]], allowed: frozenset[str]
) -> list[Annotation]:
    """Return the warnings about the objects of a group that are not refused, judged with the sizes of the usual region."""
    from harness.cli.worlds import create_world

    refused_ones = {id(manifest) for manifest, _ in refused}
    return warnings_of(
        [manifest for manifest in group.manifests if id(manifest) not in refused_ones],
        lambda: create_world(karpenter=group.release.version, kubernetes=group.kubernetes),
        allowed,
        refused=[manifest for manifest in group.manifests if id(manifest) in refused_ones],
    )


def _refusals(group: _Group) -> Iterator[tuple[Manifest, Annotation]]:
    """Yield the refusals of a group: Karpenter's objects by their CRDs, each alone; the others as `harness simulate` applies them."""
    from harness.cli.manifests import refusals
    from harness.cli.worlds import create_world
    from harness.explain.upgrade.verdicts import refusals_by
    from harness.reports.annotations import Annotation
    from harness.scenario.language.dumps import as_new

    core = [manifest for manifest in group.applied if manifest.kind not in _CUSTOM]
    alone = [manifest for manifest in group.applied if manifest.kind in _CUSTOM]
    alone += [manifest for manifest in group.others if manifest.kind in _CUSTOM or manifest.kind == "Pod"]
    refused = [
        (manifest, rejection, manifest.type_hint(rejection.pointer, rejection.text))
        for manifest in alone
        for rejection in refusals_by(as_new(manifest.object), group.release, group.kubernetes)
    ]
    if core:
        world = create_world(karpenter=group.release.version, kubernetes=group.kubernetes)
        refused += [(refusal.manifest, refusal.rejection, refusal.hint) for refusal in refusals(world, core)]
    order = {id(manifest): number for number, manifest in enumerate(group.manifests)}
    for manifest, rejection, hint in sorted(refused, key=lambda refusal: order[id(refusal[0])]):
        text = f"{manifest.reference}: {rejection.text}" + (f"; {hint}" if hint else "")
        yield manifest, Annotation("error", manifest.document.position(rejection.pointer), str(rejection.layer), text)
