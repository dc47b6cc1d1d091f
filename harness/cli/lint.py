"""Warnings about manifests at their places, and the option that silences them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

from harness.cli.output import show

if TYPE_CHECKING:
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation
    from harness.world import World

__all__ = ["add_allow", "allowed_codes", "show_warnings", "warnings_of", "warnings_value"]


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Declare `--allow`."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="CODE",
        help="a warning that is not wanted, by its code; repeatable, or separated by commas",
    )


def allowed_codes(arguments: argparse.Namespace) -> frozenset[str]:
    """The codes of `--allow`. Raises InputError for one that there is not."""
    from harness.cli.worlds import InputError
    from harness.explain.lint.findings import CODES
    from harness.wording import did_you_mean

    codes = frozenset(code.strip() for text in arguments.allow for code in text.split(","))
    for code in sorted(codes - CODES.keys()):
        raise InputError(f"--allow {code}: unknown code; {did_you_mean(code, CODES)}")
    return codes


def warnings_of(
    manifests: Sequence[Manifest],
    world: Callable[[], World],
    allowed: frozenset[str],
    refused: Sequence[Manifest] = (),
) -> list[Annotation]:
    """Return the warnings about objects of files that an API server takes, at their places; `refused` stand beside them."""
    from harness.explain.lint.checks import findings_of
    from harness.reports.annotations import Annotation

    places = {manifest.identity: manifest for manifest in manifests}
    warnings = []
    objects = [_without_nulls(manifest.object) for manifest in manifests]
    for finding in findings_of(objects, world, allowed, refused=[manifest.object for manifest in refused]):
        manifest = places[finding.kind, finding.namespace, finding.name]
        mark = manifest.document.position(finding.pointer)
        warnings.append(Annotation("warning", mark, finding.code, f"{manifest.reference}: {finding.text}"))
    return warnings


def _without_nulls(value: Any) -> Any:
    """Return an object without its fields that are null: Go reads them as absent.

    What has none is returned itself: a dump has many objects, and few have a null.
    """
    if isinstance(value, list):
        items = [_without_nulls(item) for item in value]
        return value if all(map(is_, items, value)) else items
    if not isinstance(value, dict):
        return value
    fields = {name: _without_nulls(item) for name, item in value.items() if item is not None}
    same = len(fields) == len(value) and all(map(is_, fields.values(), value.values()))
    return value if same else fields


def show_warnings(warnings: Sequence[Annotation]) -> None:
    """A line for each."""
    for warning in warnings:
        show(f"{warning.mark}: warning {warning.rule}: {warning.text}")


def warnings_value(warnings: Sequence[Annotation]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [{"place": str(warning.mark), "code": warning.rule, "text": warning.text} for warning in warnings]
