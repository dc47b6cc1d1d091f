"""Checks a price list (answers of prices.azure.com/api/retail/prices, one or a list of pages) and writes it as the prices of a market.

Give the output to `fakeazure serve --market FILE`, or take it over into `given.azure` of a scenario.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fakeazure.catalog import Catalogue
from fakeazure.commands.market_file import read_json, write_market
from fakeazure.commands.outputs import check_output
from fakeazure.market.imports import prices_of
from plainlines import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `import-prices`."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="an answer of the retail prices API, or a list of its pages"
    )
    parser.add_argument("--region", required=True, help="whose prices, e.g. eastus")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write the market; what it has beside prices stays"
    )


def run(options: argparse.Namespace) -> int:
    """Imports; exit code 0."""
    check_output("-o", options.output, [options.file])
    region = Catalogue.load().region(options.region).name
    prices, others = read_json(options.file, lambda document: prices_of(document, region))
    spot = sum("spot" in kinds for kinds in prices.values())
    print_line(f"{region}: prices of {len(prices)} sizes, of {spot} on spot; {others} other items ignored")
    if options.output is not None:
        write_market(options.output, {"prices": prices})
    return 0
