"""`harness defaults`: what a scenario gets where it says nothing."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from harness.cli.output import add_format, bad_input, print_json
from plainlines import print_line

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness defaults`."""
    parser.add_argument("--release", metavar="R", help="one release of the provider; all when absent")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one table of defaults per release, or for one of them."""
    from harness.cli.worlds import InputError, check_release
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider

    try:
        check_release(arguments.release)
    except InputError as error:
        return bad_input(f"harness defaults: {error}")
    names = ALL_PROVIDER_RELEASES if arguments.release is None else (provider(arguments.release).version,)
    table = {}
    for name in names:
        release = provider(name)
        table[name] = {
            "core": release.core.version,
            **{key: str(value) for key, value in asdict(release.defaults).items()},
        }
    if arguments.format == "json":
        print_json(table)
        return 0
    columns = list(table[names[-1]])
    if len(names) == 1:
        for key in columns:
            print_line(f"{key:22} {table[names[0]][key]}")
        return 0
    shown = ["core", "kubernetes", "provision_mode", "network_dataplane"]
    print_line("release  " + "  ".join(f"{key:18}" for key in shown).rstrip())
    for name in names:
        print_line(f"{name:8} " + "  ".join(f"{table[name][key]:18}" for key in shown).rstrip())
    return 0
