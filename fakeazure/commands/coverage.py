"""The operations of Azure that are served, by provider: as a table, as JSON, or as the page of the documentation."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from fakeazure.catalog.errors import CatalogueError, nearest
from fakeazure.commands.table import render, to_json
from fakeazure.coverage import operations, page
from fakeazure.routing import router
from plainlines import print_document, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `coverage`."""
    parser.add_argument("--provider", default="", help="of one provider, e.g. Microsoft.Compute")
    parser.add_argument("--format", choices=("table", "json", "markdown"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    """Prints the operations; exit code 0. CatalogueError for a provider that nothing is served of."""
    served = operations(router().routes)
    wanted = options.provider.lower()
    found = [one for one in served if wanted in one.provider.lower()]
    if not found:
        near = nearest(options.provider, {one.provider for one in served}, 1)
        hint = f"did you mean {near[0]!r}?" if near else "fakeazure coverage lists all"
        raise CatalogueError(f"nothing of {options.provider!r} is served; {hint}")
    if options.format == "json":
        print_document(to_json([asdict(one) for one in found]) + "\n")
    elif options.format == "markdown":
        print_document("\n".join(page(found)) + "\n")
    else:
        header = ("PROVIDER", "METHOD", "TYPE", "STATE", "NOTE")
        rows = [(one.provider, one.method, one.type, one.state, one.note) for one in found]
        print_lines(render(header, rows, frozenset()))
    return 0
