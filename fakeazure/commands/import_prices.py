"""Checks a price list (answers of prices.azure.com/api/retail/prices, one or a list of pages) and writes all rows as prices of a market.

Give the output to `fakeazure serve --market FILE`, or take it over into `given.azure` of a scenario.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fakeazure.catalog import Catalogue
from fakeazure.catalog.prices.rows import LINUX_SPOT
from fakeazure.commands.market_file import read_json, write_market
from fakeazure.commands.outputs import check_output
from fakeazure.market.declared_prices import item_of
from fakeazure.market.imports import prices_of
from plainlines import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `import-prices`."""
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
    rows, others = read_json(options.file, lambda document: prices_of(document, region))
    sizes, spot = {row.size for row in rows}, {row.size for row in rows if row.kind == LINUX_SPOT}
    print_line(
        f"{region}: {len(rows)} rows of {len(sizes)} sizes, of {len(spot)} on spot; {others} other items ignored"
    )
    if options.output is not None:
        write_market(options.output, {"prices": [item_of(region, row) for row in rows]})
    return 0
