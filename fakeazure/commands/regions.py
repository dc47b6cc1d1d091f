"""The regions, their zones, how many sizes they sell, and of how many the zones are recorded. A question mark: a guess."""

from __future__ import annotations

import argparse

from fakeazure.catalog import Catalogue
from fakeazure.catalog.regions import REGIONS
from fakeazure.catalog.zones import zones_recorded
from fakeazure.commands.table import add_format, render, to_json
from plainlines import print_document, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `regions`."""
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the regions; exit code 0."""
    catalogue = Catalogue.load()
    sold = {name: len(catalogue.region(name).skus) for name in catalogue.regions}
    if options.format == "json":
        listed = [
            {
                "name": name,
                "zones": list(REGIONS[name].zones),
                "zonesGuessed": "zones" in REGIONS[name].guessed,
                "sizes": sizes,
                "recorded": zones_recorded(name),
            }
            for name, sizes in sold.items()
        ]
        print_document(to_json(listed) + "\n")
        return 0
    rows = [
        (
            name,
            (",".join(REGIONS[name].zones) or "-") + ("?" if "zones" in REGIONS[name].guessed else ""),
            str(sizes),
            str(zones_recorded(name) or "-"),
        )
        for name, sizes in sold.items()
    ]
    print_lines(render(("REGION", "ZONES", "SIZES", "RECORDED"), rows, frozenset({2, 3})))
    return 0
