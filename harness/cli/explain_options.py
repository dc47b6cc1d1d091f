"""Options of `harness explain` that do not go together."""

from __future__ import annotations

import argparse

__all__ = ["mistake_of"]


def mistake_of(arguments: argparse.Namespace) -> str:
    """Return the mistake in the options and names, "" for none, without looking at the files."""
    for option, value, kind in (("--pod", arguments.pod, "pod"), ("--node", arguments.node, "Node")):
        if value == "":
            return f"{option}: the name of a {kind} is expected"
    if arguments.pod is not None and arguments.node is not None:
        return "--pod asks about a pod, --node about a Node of a dump: one of them"
    if arguments.node is not None and (arguments.format not in ("text", "json") or arguments.markdown is not None):
        return "--node is answered as text or as json, not as findings at places"
    if arguments.prices and (unused := _unused_by_prices(arguments)):
        return f"--prices is about a region (--region, --release, --format): {', '.join(unused)} changes nothing there"
    return ""


def _unused_by_prices(arguments: argparse.Namespace) -> list[str]:
    """Return the inputs beside `--prices` that its answer does not depend on, as they were written."""
    from harness.cli import whole_parser

    used = {"prices", "region", "release", "format", "command", "words", "files"}
    plain = vars(whole_parser().parse_args(["explain", "--prices"]))
    options = [name for name, value in vars(arguments).items() if name not in used and value != plain.get(name)]
    form = [] if arguments.format in ("text", "json") else [f"--format {arguments.format}"]
    return [*map(str, arguments.files), *form, *(f"--{name.replace('_', '-')}" for name in options)]
