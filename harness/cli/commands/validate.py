"""`harness validate`: what the API server and Karpenter's own validation say to manifests, and nothing more: no world, no clock."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import add_forms, bad_input, display_name, print_found, print_json, show
from harness.wording import counted
from plainlines import print_line

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.reading.manifests import Manifest
    from harness.reading.problems import Problem
    from harness.reports.annotations import Annotation
    from harness.scenario.language.cases import Case

__all__ = ["add_arguments", "run"]

REFUSED = 1

_JUDGED = ("NodePool", "NodeClaim", "AKSNodeClass", "NodeOverlay", "Pod")


@dataclass(frozen=True, slots=True)
class _Input:
    """An object and the release and Kubernetes version that judge it."""

    manifest: Manifest
    release: ProviderRelease
    kubernetes: str


@dataclass(frozen=True, slots=True)
class _Given:
    """What the files hold: the objects that are looked at, whether there is anything else, and the release where there is no object."""

    inputs: Sequence[_Input]
    others: bool
    release: ProviderRelease

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases that judge, in the order of the files."""
        return tuple(dict.fromkeys(one.release.version for one in self.inputs)) or (self.release.version,)

    @property
    def objects(self) -> int:
        """How many objects there are; one that several cases of a scenario have is one."""
        return len({(one.manifest.document.position(), one.manifest.reference) for one in self.inputs})

    @property
    def judged(self) -> int:
        """How many inputs are of a kind that is judged."""
        return sum(one.manifest.kind in _JUDGED for one in self.inputs)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness validate`."""
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
    add_forms(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints each refusal at its place. Exit code 0 when all is taken, 1 when something is refused, 2 for files that cannot be read."""
    from harness.cli.worlds import InputError, check_release
    from harness.kube.api.versions import version_mistake
    from harness.reading.problems import ScenarioError

    try:
        check_release(arguments.release)
        if arguments.kubernetes is not None and (mistake := version_mistake(arguments.kubernetes)):
            raise InputError(f"--kubernetes: {mistake}")
        given = _read(arguments)
        if not given.inputs and not given.others:
            raise InputError("there is no object in what is given")
        found = list(dict.fromkeys(one for each in given.inputs for one in _refusals(each)))
    except InputError as error:
        return bad_input(f"harness validate: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    nothing = "" if given.judged else f"nothing to judge: there is no {', '.join(_JUDGED[:-1])} or {_JUDGED[-1]}"
    if arguments.format == "json":
        values = [{"place": str(one.mark), "layer": one.rule, "text": one.text} for one in found]
        print_json({"release": ", ".join(given.releases), "objects": given.objects, "refused": values})
    elif arguments.format == "text":
        for one in found:
            show(f"{one.mark}: {one.rule}: {one.text}")
        said = nothing or f"{len(found) or 'nothing'} refused"
        print_line(f"provider {', '.join(given.releases)}: {counted(given.objects, 'object')}, {said}")
    else:
        print_found(found, arguments.format)
    if nothing and arguments.format != "text":
        print_line(f"harness validate: {nothing}", error=True)
    return REFUSED if found else 0


def _read(arguments: argparse.Namespace) -> _Given:
    """The objects of all files; a scenario is read as a run reads it. Raises ScenarioError with every mistake of all files."""
    from harness.cli.assumptions import inputs_of
    from harness.cli.given import STDIN, read_files
    from harness.karpenter.releases import DEFAULT_RELEASE, provider
    from harness.reading.documents import read_stream
    from harness.reading.manifests import manifests_of_text
    from harness.reading.problems import ScenarioError
    from harness.reading.sources import files_in
    from harness.scenario.language.dumps import sorted_dump
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
                    cases += _cases(path, read, arguments.release)
                else:
                    texts += manifests_of_text(read, "stdin")
                continue
            for one in files_in(path, display_name(path)):
                if is_scenario_file(one):
                    cases += _cases(one, None, arguments.release)
                else:
                    plain.append(one)
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
    said = inputs_of([*manifests, *dump.not_simulated], {"karpenter": ("--release", arguments.release)})
    release = provider(said.arguments.get("karpenter", DEFAULT_RELEASE))
    own = [_Input(one, release, arguments.kubernetes or release.defaults.kubernetes) for one in manifests]
    of_cases = (one for case in cases for one in _inputs(case, arguments.kubernetes))
    return _Given((*own, *of_cases), bool(cases or dump.not_simulated), release)


def _cases(path: Path, text: str | None, release: str | None) -> Sequence[Case]:
    """The cases of a scenario file, whose inputs exist. Raises ScenarioError."""
    from harness.scenario.language.files import load, load_text
    from harness.scenario.running.runner import Runner

    found = (
        load(path, display_name(path), release=release)
        if text is None
        else load_text(text, file="stdin", release=release)
    )
    cases = [case for scenario in found for case in scenario.cases]
    Runner().check_inputs(cases)
    return cases


def _inputs(case: Case, kubernetes: str | None) -> Iterator[_Input]:
    """The objects of a case and what it says judges them."""
    from harness.karpenter.releases import DEFAULT_RELEASE, provider
    from harness.scenario.language.inputs import world_arguments

    said = world_arguments(case.given)
    release = provider(said.get("karpenter", DEFAULT_RELEASE))
    version = kubernetes or said.get("kubernetes") or release.defaults.kubernetes
    yield from (_Input(manifest, release, version) for manifest in case.manifests)


def _refusals(given: _Input) -> Iterator[Annotation]:
    from harness.explain.upgrade.verdicts import refusals_by
    from harness.reports.annotations import Annotation
    from harness.scenario.language.dumps import as_new

    manifest = given.manifest
    if manifest.kind not in _JUDGED:
        return
    for rejection in refusals_by(as_new(manifest.object), given.release, given.kubernetes):
        hint = manifest.type_hint(rejection.pointer, rejection.text)
        text = f"{manifest.reference}: {rejection.text}" + (f"; {hint}" if hint else "")
        yield Annotation("error", manifest.document.position(rejection.pointer), str(rejection.layer), text)
