"""Checks the usages of a region (`az vm list-usage -l REGION -o json > FILE`) and writes its limits as the quota of a market.

Give the output to `fakeazure serve --market FILE`, or take it over into `given.azure` of a scenario.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fakeazure.catalog import Catalogue
from fakeazure.commands.market_file import read_json, write_market
from fakeazure.commands.outputs import check_output
from fakeazure.market.imports import quota_of
from plainlines import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `import-usages`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="output of az vm list-usage -o json, or the ARM reply")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write the market; what it has beside quota stays"
    )


def run(options: argparse.Namespace) -> int:
    """Imports; exit code 0."""
    check_output("-o", options.output, [options.file])
    quota, others = read_json(options.file, lambda document: quota_of(document, Catalogue.load()))
    print_line(f"{len(quota)} limits; {others} other entries ignored")
    if options.output is not None:
        write_market(options.output, {"quota": quota})
    return 0
