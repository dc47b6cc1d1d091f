"""`harness validate`: what the API server and Karpenter's own validation say to manifests, and nothing more: no world, no clock."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import add_forms, bad_input, counted, print_found, print_json, show

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation

__all__ = ["add_arguments", "run"]

REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness validate`."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="manifests; folders of them; - is standard input"
    )
    parser.add_argument(
        "--release", metavar="R", help="release of the provider (default: what the files say, else 1.14.0)"
    )
    parser.add_argument("--kubernetes", metavar="V", help="Kubernetes version (default: the release's)")
    add_forms(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints each refusal at its place. Exit code 0 when all is taken, 1 when something is refused, 2 for files that cannot be read."""
    from harness.cli.assumptions import inputs_of
    from harness.cli.given import read_files
    from harness.cli.worlds import InputError, check_release
    from harness.karpenter.releases import DEFAULT_RELEASE, provider
    from harness.kube.api.versions import version_mistake
    from harness.reading.problems import ScenarioError

    try:
        check_release(arguments.release)
        if arguments.kubernetes is not None and (mistake := version_mistake(arguments.kubernetes)):
            raise InputError(f"--kubernetes: {mistake}")
        given = read_files(arguments.files)
        manifests = [*given.manifests, *given.derived, *given.finished, *given.registered]
        inputs = inputs_of([*manifests, *given.not_simulated], {"karpenter": ("--release", arguments.release)})
        release = provider(inputs.arguments.get("karpenter", DEFAULT_RELEASE))
        found = list(_refusals(manifests, release, arguments.kubernetes or release.defaults.kubernetes))
    except InputError as error:
        return bad_input(f"harness validate: {error}")
    except ScenarioError as error:
        return bad_input(error, arguments.format)
    if arguments.format == "json":
        values = [{"place": str(one.mark), "layer": one.rule, "text": one.text} for one in found]
        print_json({"release": release.version, "objects": len(manifests), "refused": values})
    elif arguments.format == "text":
        for one in found:
            show(f"{one.mark}: {one.rule}: {one.text}")
        print(f"provider {release.version}: {counted(len(manifests), 'object')}, {len(found) or 'nothing'} refused")
    else:
        print_found(found, arguments.format)
    return REFUSED if found else 0


def _refusals(manifests: Sequence[Manifest], release: ProviderRelease, kubernetes: str) -> Iterator[Annotation]:
    from harness.explain.upgrade.verdicts import refusals_by
    from harness.reports.annotations import Annotation
    from harness.scenario.language.dumps import as_new

    judged = {"NodePool", "NodeClaim", "AKSNodeClass", "NodeOverlay", "Pod"}
    for manifest in manifests:
        if manifest.kind not in judged:
            continue
        for rejection in refusals_by(as_new(manifest.object), release, kubernetes):
            hint = manifest.type_hint(rejection.pointer, rejection.text)
            text = f"{manifest.reference}: {rejection.text}" + (f"; {hint}" if hint else "")
            yield Annotation("error", manifest.document.position(rejection.pointer), str(rejection.layer), text)
