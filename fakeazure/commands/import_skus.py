"""Checks a SKU list of your own (`az vm list-skus -l REGION -o json > FILE`) and writes it as the fake takes it.

The output is the ARM reply (`{"value": [...]}`), sizes in order of name, the same input giving the same bytes. Give it to
`fakeazure skus --skus FILE`, or in code to `fakeazure.catalog.importer.read(FILE)`: it then stands in place of the
region's own list. Without -o the file is only checked.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fakeazure.catalog.importer import read
from fakeazure.commands.outputs import check_output, write_text
from plainlines import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `import-skus`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="output of az vm list-skus -o json, or the ARM reply")
    parser.add_argument("--region", help="which region to take, if the file holds several")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write the list")


def run(options: argparse.Namespace) -> int:
    """Imports; exit code 0."""
    check_output("-o", options.output, [options.file])
    listed = read(options.file, options.region)
    priced = len(listed.catalogue().prices)
    restricted = sum(1 for record in listed.records if record["restrictions"])
    print_line(
        f"{listed.region}: {len(listed.records)} sizes, {restricted} with restrictions, {priced} with a price;"
        f" {listed.ignored} other entries ignored"
    )
    if options.output is not None:
        write_text(options.output, listed.text())
        print_line(f"written to {options.output}")
    return 0
