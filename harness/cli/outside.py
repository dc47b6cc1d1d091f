"""`--allow-outside`: whether a scenario may name, and a link in a folder lead to, files beside its checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reading.checkout import OPTION, Checkout

if TYPE_CHECKING:
    import argparse

__all__ = ["add_allow_outside", "checkout_given"]


def add_allow_outside(parser: argparse.ArgumentParser, *, scenarios: bool = True) -> None:
    """Declare the option, for a command that reads scenarios or one of manifests only."""
    who = "scenarios name" if scenarios else "links in folders lead to"
    which = " (manifests, CRD files, files that steps apply)" if scenarios else ""
    parser.add_argument(
        OPTION,
        action="store_true",
        help=f"let {who} files outside the checkout that they are in{which}",
    )


def checkout_given(arguments: argparse.Namespace) -> Checkout | None:
    """Return the checkout of the option; None for the checkout of each file."""
    return Checkout(None) if arguments.allow_outside else None
