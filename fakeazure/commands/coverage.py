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
    """Declare the arguments of `coverage`."""
    parser.add_argument("--provider", default="", help="of one provider, e.g. Microsoft.Compute")
    parser.add_argument("--format", choices=("table", "json", "markdown"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    """Print the operations; exit code 0. CatalogueError for a provider without any."""
    served = operations(router().routes)
    wanted = options.provider.lower()
    chosen = [operation for operation in served if wanted in operation.provider.lower()]
    if not chosen:
        near = nearest(options.provider, {operation.provider for operation in served}, 1)
        hint = f"did you mean {near[0]!r}?" if near else "fakeazure coverage lists all"
        raise CatalogueError(f"nothing of {options.provider!r} is served; {hint}")
    if options.format == "json":
        print_document(to_json([asdict(operation) for operation in chosen]) + "\n")
    elif options.format == "markdown":
        print_document("\n".join(page(chosen)) + "\n")
    else:
        header = ("PROVIDER", "METHOD", "TYPE", "STATE", "NOTE")
        rows = [
            (operation.provider, operation.method, operation.type, operation.state, operation.note)
            for operation in chosen
        ]
        print_lines(render(header, rows, frozenset()))
    return 0
