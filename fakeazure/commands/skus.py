"""The sizes that a region sells: a table for people, `{"value": [...]}` as Microsoft.Compute/skus answers for machines.

Zones with a question mark, and the capabilities named under GUESSED, are guesses: no record and no page tells them.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys

from fakeazure.catalog import RegionCatalogue
from fakeazure.catalog.errors import UnknownSize
from fakeazure.commands.table import add_format, add_skus_file, capabilities, catalogue_with, dollars, render, to_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `skus`."""
    parser.add_argument("--region", required=True, help="short name, e.g. eastus")
    parser.add_argument("--size", metavar="NAME", help="only this size, or those that match NAME's * and ?")
    parser.add_argument("--guesses", action="store_true", help="json: also which values of each record are guesses")
    add_skus_file(parser)
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the list; exit code 0."""
    region = catalogue_with(options.skus, options.region).region(options.region)
    names = _chosen(region, options.size)
    if options.format == "json":
        document: dict[str, object] = {"value": [region.by_name[name] for name in names]}
        if options.guesses:
            document["guessed"] = {name: sorted(region.guessed(name)) for name in names if region.guessed(name)}
        print(to_json(document))
    else:
        print(_table(region, names))
    guessing = sum(1 for name in names if region.guessed(name))
    if guessing:
        hint = "" if options.guesses else "; --format json --guesses names them"
        print(f"{len(names)} sizes, {guessing} with values that are guesses{hint}", file=sys.stderr)
    return 0


def _chosen(region: RegionCatalogue, wanted: str | None) -> list[str]:
    if wanted is None:
        return list(region.by_name)
    if not any(mark in wanted for mark in "*?["):
        region.sku(wanted)
        return [wanted]
    names = [name for name in region.by_name if fnmatch.fnmatchcase(name.lower(), wanted.lower())]
    if not names:
        raise UnknownSize(wanted, (), f" in {region.name}: no size matches")
    return names


def _table(region: RegionCatalogue, names: list[str]) -> str:
    rows = []
    for name in names:
        record, guessed = region.by_name[name], region.guessed(name)
        said = capabilities(record)
        zones = ",".join(sorted(record["locationInfo"][0]["zones"])) if record["locationInfo"] else ""
        others = len(guessed - {"zones"})
        rows.append(
            (
                name,
                said.get("vCPUs", "-"),
                said.get("MemoryGB", "-"),
                said.get("CpuArchitectureType", "-"),
                (zones or "-") + ("?" if "zones" in guessed else ""),
                said.get("GPUs", "-"),
                dollars(region.prices.get(name)),
                "restricted" if record["restrictions"] else "",
                " and ".join(mark for mark in ("zones" if "zones" in guessed else "", _count(others)) if mark),
            )
        )
    header = ("NAME", "VCPU", "GIB", "ARCH", "ZONES", "GPU", "USD/H", "", "GUESSED")
    return render(header, rows, frozenset({1, 2, 5, 6}))


def _count(capabilities_guessed: int) -> str:
    if not capabilities_guessed:
        return ""
    return f"{capabilities_guessed} capabilit{'y' if capabilities_guessed == 1 else 'ies'}"
