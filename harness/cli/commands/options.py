"""`harness options`: the options of a release's controller, as `--option` and `given.options` take them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from harness.cli.output import add_format, bad_input, print_json
from plainlines import print_line

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness options`."""
    from harness.karpenter.releases import DEFAULT_RELEASE

    parser.add_argument("--release", metavar="R", help=f"release of the provider (default {DEFAULT_RELEASE})")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print name, default in a simulation and purpose of each option that the release has."""
    from harness.cli.worlds import InputError, check_release
    from harness.karpenter.releases import DEFAULT_RELEASE, ProviderOptions, options_of, provider

    try:
        check_release(arguments.release)
    except InputError as error:
        return bad_input(f"harness options: {error}")
    release = provider(arguments.release or DEFAULT_RELEASE)
    defaults = ProviderOptions.of(release.defaults)
    rows = [
        {
            "name": option.name,
            "environment": option.environment,
            "json": option.json or None,
            "default": getattr(defaults, option.field),
            "decides": option.decides,
            "since": option.since,
        }
        for option in options_of(release.version)
    ]
    if arguments.format == "json":
        print_json({"release": release.version, "options": rows})
        return 0
    width = max(len(row["name"]) for row in rows)
    print_line(f"provider {release.version}; defaults are those of a simulation")
    for row in rows:
        print_line(f"{row['name']:{width}}  {_text(row['default'])}")
        print_line(f"{'':{width}}    {row['decides']}")
    return 0


def _text(value: Any) -> str:
    """A default as one writes it; `-` for nothing."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items()) or "-"
    return (",".join(value) if isinstance(value, tuple) else str(value)) or "-"
