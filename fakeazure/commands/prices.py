"""On-demand prices in USD per hour (Linux, pay as you go): of all sizes in a region, or of one size in all regions."""

from __future__ import annotations

import argparse

from fakeazure.catalog import Catalogue
from fakeazure.catalog.errors import CatalogueError, UnknownSize
from fakeazure.commands.table import add_format, dollars, render, to_json
from plainlines import print_document, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `prices`."""
    parser.add_argument("--region", help="short name, e.g. eastus")
    parser.add_argument("--size", metavar="NAME", help="a size, e.g. Standard_D4s_v5")
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the prices; exit code 0."""
    catalogue = Catalogue.load()
    if options.region is None and options.size is None:
        raise CatalogueError("say which prices: --region R, --size NAME or both")
    if options.region is not None:
        region = catalogue.region(options.region)
        if options.size is None:
            return _show(dict(region.prices), "NAME", options.format)
        catalogue.check_sold(options.size, region.name)
        return _show(
            {name: region.prices[name] for name in [options.size] if name in region.prices}, "NAME", options.format
        )
    regions = [catalogue.region(name) for name in catalogue.regions]
    selling = {region.name: region.prices[options.size] for region in regions if options.size in region.prices}
    if not selling:
        raise UnknownSize(options.size, {name for region in regions for name in region.by_name})
    return _show(dict(sorted(selling.items(), key=lambda item: item[1])), "REGION", options.format)


def _show(prices: dict[str, float], subject: str, form: str) -> int:
    if form == "json":
        print_document(to_json(prices) + "\n")
    else:
        print_lines(
            render((subject, "USD/H"), [(name, dollars(price)) for name, price in prices.items()], frozenset({1}))
        )
    return 0
