"""All sizes that any region sells: vCPUs, memory, GPUs, in how many regions, cheapest and dearest price."""

from __future__ import annotations

import argparse

from fakeazure.catalog import Catalogue
from fakeazure.catalog.errors import UnknownSize
from fakeazure.commands.table import add_as_of, add_format, capabilities, dollars, matching, render, to_json
from plainlines import print_document, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `sizes`."""
    parser.add_argument("--size", metavar="NAME", default="*", help="only sizes that match NAME's * and ?")
    add_as_of(parser)
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the sizes; exit code 0."""
    catalogue = Catalogue.load(options.as_of)
    regions = [catalogue.region(name) for name in catalogue.regions]
    names = sorted({name for region in regions for name in region.by_name})
    chosen = matching(names, options.size)
    if not chosen:
        raise UnknownSize(options.size, names)
    listed = []
    for name in chosen:
        selling = [region for region in regions if name in region.by_name]
        prices = [region.prices[name] for region in selling if name in region.prices]
        record = selling[0].by_name[name]
        values = capabilities(record)
        listed.append(
            {
                "name": name,
                "family": record["family"],
                "vCPUs": int(values["vCPUs"]),
                "memoryGiB": float(values["MemoryGB"]),
                "gpus": int(values.get("GPUs", "0")),
                "architecture": values["CpuArchitectureType"],
                "regions": [region.name for region in selling],
                "cheapest": min(prices, default=None),
                "dearest": max(prices, default=None),
            }
        )
    if options.format == "json":
        print_document(to_json(listed) + "\n")
        return 0
    rows = [
        (
            size["name"],
            str(size["vCPUs"]),
            f"{size['memoryGiB']:g}",
            size["architecture"],
            str(size["gpus"] or "-"),
            str(len(size["regions"])),
            dollars(size["cheapest"]),
            dollars(size["dearest"]),
            size["family"],
        )
        for size in listed
    ]
    header = ("NAME", "VCPU", "GIB", "ARCH", "GPU", "REGIONS", "MIN USD/H", "MAX USD/H", "FAMILY")
    print_lines(render(header, rows, frozenset({1, 2, 4, 5, 6, 7})))
    return 0
