"""`harness schema`: the JSON Schema of scenario files and of the kinds that are simulated, for editors, and of traces."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.output import bad_input
from plainlines import json_text, print_document, print_line, printable

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness schema`."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--kind",
        metavar="KIND",
        help="print the schema of a kind (NodePool, AKSNodeClass, Deployment, ...) for plain manifests instead",
    )
    which.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        help="write scenario.schema.json and the schemas of all kinds into a folder",
    )
    which.add_argument("--trace", action="store_true", help="print the schema of a line of a trace instead")
    which.add_argument("--reference", action="store_true", help="print the reference page (Markdown) instead")
    parser.add_argument(
        "--release", metavar="R", help="the release whose CRDs judge manifests (default: the one that scenarios have)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a schema, or the reference page, or writes the files of a folder."""
    if arguments.trace:
        from harness.trace.schema import trace_schema

        print_document(json_text(trace_schema()) + "\n")
        return 0
    if arguments.reference:
        from harness.scenario.documentation.reference import render_reference

        print_document(render_reference())
        return 0
    return _print_or_write(arguments)


def _print_or_write(arguments: argparse.Namespace) -> int:
    from harness.karpenter.validation.crds import UnknownCrdSet, crd_set
    from harness.scenario.documentation.core_kinds import core_kinds
    from harness.scenario.documentation.kinds import kinds_of
    from harness.scenario.documentation.schema import default_crds, render, render_kind, schema_files
    from harness.wording import did_you_mean

    try:
        crds = default_crds() if arguments.release is None else crd_set(arguments.release)
    except UnknownCrdSet as error:
        return bad_input(printable(f"harness schema: --release: {error}"))
    if arguments.kind is not None:
        kinds = {**kinds_of(crds), **core_kinds()}
        if arguments.kind not in kinds:
            hint = did_you_mean(arguments.kind, kinds)
            return bad_input(
                printable(f"harness schema: --kind: release {crds.name} has no kind '{arguments.kind}'; {hint}")
            )
        print_document(render_kind(crds, arguments.kind))
    elif arguments.into is not None:
        return _write(arguments.into, schema_files(crds))
    else:
        print_document(render(crds))
    return 0


def _write(folder: Path, files: dict[str, str]) -> int:
    from harness.outputs import misplaced, write_text

    for place in sorted({(folder / name).parent for name in files}):
        place.mkdir(parents=True, exist_ok=True)
    mistakes = [f"{folder / name}: {why}" for name in files if (why := misplaced(folder / name))]
    if mistakes:
        return bad_input("\n".join(printable(f"harness schema: --into: {line}") for line in mistakes))
    for name, text in files.items():
        write_text(folder / name, text)
        print_line(str(folder / name))
    return 0
