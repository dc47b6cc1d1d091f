"""`--allow-outside`: whether a scenario may name files beside its checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reading.checkout import OPTION, Checkout

if TYPE_CHECKING:
    import argparse

__all__ = ["add_allow_outside", "checkout_given"]


def add_allow_outside(parser: argparse.ArgumentParser) -> None:
    """Declares the option."""
    parser.add_argument(
        OPTION,
        action="store_true",
        help="let scenarios name files outside the checkout that they are in (manifests, CRD files, files that steps apply)",
    )


def checkout_given(arguments: argparse.Namespace) -> Checkout | None:
    """What the option says; None for the checkout of each file."""
    return Checkout(None) if arguments.allow_outside else None
