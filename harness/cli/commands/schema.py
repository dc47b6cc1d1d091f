"""`harness schema`: the JSON Schema of scenario files, for editors, and of traces."""

from __future__ import annotations

import argparse

from plainlines import json_text, print_document

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness schema`."""
    parser.add_argument("--trace", action="store_true", help="print the schema of a line of a trace instead")
    parser.add_argument("--reference", action="store_true", help="print the reference page (Markdown) instead")


def run(arguments: argparse.Namespace) -> int:
    """Prints a schema, or the reference page."""
    if arguments.trace:
        from harness.trace.schema import trace_schema

        print_document(json_text(trace_schema()) + "\n")
    elif arguments.reference:
        from harness.scenario.documentation.reference import render_reference

        print_document(render_reference())
    else:
        from harness.scenario.documentation.schema import render

        print_document(render())
    return 0
