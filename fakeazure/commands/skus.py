"""The sizes that a region sells: a table for people, `{"value": [...]}` as Microsoft.Compute/skus answers for machines.

Sizes and capabilities are recorded; zones with a question mark, and the fields named under GUESSED, are guesses. --guesses
lists them by field, with the reason of each. No restrictions are assumed: a subscription has its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from fakeazure.catalog import RegionCatalogue
from fakeazure.commands.table import (
    add_as_of,
    add_format,
    add_skus_file,
    capabilities,
    catalogue_with,
    chosen_sizes,
    dollars,
    render,
    to_json,
)
from plainlines import joined, print_document, print_line, print_lines

_FEW = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `skus`."""
    parser.add_argument("--region", required=True, help="short name, e.g. eastus")
    parser.add_argument("--size", metavar="NAME", help="only this size, or those that match NAME's * and ?")
    parser.add_argument(
        "--guesses",
        action="store_true",
        help="what of the list is a guess, by field and with the reason; json: beside the list, with the sources of the rest",
    )
    add_skus_file(parser)
    add_as_of(parser)
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list; exit code 0."""
    catalogue = catalogue_with(options.skus, options.region, options.as_of)
    region = catalogue.region(options.region)
    names = list(region.by_name) if options.size is None else chosen_sizes(catalogue, region, options.size)
    guesses = {name: guessed for name in names if (guessed := region.guessed(name))}
    if options.format == "json":
        document: dict[str, object] = {"value": [region.by_name[name] for name in names]}
        if options.guesses:
            document["guessed"] = guesses
            document["recorded"] = {
                name: {field: source._asdict() for field, source in region.sources(name).items()} for name in names
            }
        print_document(to_json(document) + "\n")
    elif options.guesses:
        print_lines(joined(_by_field(guesses)) if guesses else "nothing is guessed")
    else:
        print_lines(_table(region, names, guesses))
    if guesses and not options.guesses:
        print_line(
            f"{len(names)} sizes, something of {len(guesses)} is a guess; --guesses tells what and why", error=True
        )
    return 0


def _by_field(guesses: dict[str, Mapping[str, str]]) -> Iterator[str]:
    """Each field and reason with the sizes that it is about."""
    alike: dict[str, dict[str, list[str]]] = {}
    for name, guessed in guesses.items():
        for field, reason in guessed.items():
            alike.setdefault(field, {}).setdefault(reason, []).append(name)
    for field, reasons in sorted(alike.items(), key=lambda item: (item[0] != "zones", item[0])):
        yield f"{field} of {sum(map(len, reasons.values()))} sizes"
        for reason, names in reasons.items():
            more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
            yield f"  {reason}: {', '.join(names[:_FEW])}{more}"


def _table(region: RegionCatalogue, names: list[str], guesses: Mapping[str, Mapping[str, str]]) -> str:
    rows = []
    none: Mapping[str, str] = {}
    for name in names:
        record, guessed = region.by_name[name], guesses.get(name, none)
        values = capabilities(record)
        zones = ",".join(sorted(record["locationInfo"][0]["zones"])) if record["locationInfo"] else ""
        rows.append(
            (
                name,
                values.get("vCPUs", "-"),
                values.get("MemoryGB", "-"),
                values.get("CpuArchitectureType", "-"),
                (zones or "-") + ("?" if "zones" in guessed else ""),
                values.get("GPUs", "-"),
                dollars(region.prices.get(name)),
                "restricted" if record["restrictions"] else "",
                ", ".join(guessed),
            )
        )
    header = ("NAME", "VCPU", "GIB", "ARCH", "ZONES", "GPU", "USD/H", "", "GUESSED")
    return render(header, rows, frozenset({1, 2, 5, 6}))
