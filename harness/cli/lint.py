"""Warnings about manifests at their places, and the option that silences them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.output import show

if TYPE_CHECKING:
    from harness.reading.manifests import Manifest
    from harness.reports.annotations import Annotation
    from harness.world import World

__all__ = ["add_allow", "allowed_codes", "show_warnings", "warnings_of", "warnings_value"]


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Declares `--allow`."""
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


def warnings_of(manifests: Sequence[Manifest], world: Callable[[], World], allowed: frozenset[str]) -> list[Annotation]:
    """The warnings about objects of files, at their places."""
    from harness.explain.lint.checks import findings_of
    from harness.reports.annotations import Annotation

    places = {one.identity: one for one in manifests}
    found = []
    for one in findings_of([manifest.object for manifest in manifests], world, allowed):
        manifest = places[one.kind, one.namespace, one.name]
        mark = manifest.document.position(one.pointer)
        found.append(Annotation("warning", mark, one.code, f"{manifest.reference}: {one.text}"))
    return found


def show_warnings(found: Sequence[Annotation]) -> None:
    """A line for each."""
    for one in found:
        show(f"{one.mark}: warning {one.rule}: {one.text}")


def warnings_value(found: Sequence[Annotation]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [{"place": str(one.mark), "code": one.rule, "text": one.text} for one in found]
