"""Text tables and the reading of records that the catalogue's subcommands share."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fakeazure.catalog import Catalogue, Record, RegionCatalogue
from fakeazure.catalog.errors import UnknownSize
from plainlines import joined, json_text


def render(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> str:
    """A table with blanks between the columns; `right` = indices of the columns that are set flush right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    # One pattern for all lines: a table of a region has more than ten thousand cells.
    line = "  ".join(f"{{:{'>' if index in right else '<'}{width}}}" for index, width in enumerate(widths)).format
    return joined(line(*row).rstrip() for row in (header, *rows))


def capabilities(record: Record) -> dict[str, str]:
    """A record's capabilities by name."""
    return {pair["name"]: pair["value"] for pair in record["capabilities"]}


def to_json(document: Any) -> str:
    """A document as the commands print it."""
    return json_text(document)


def dollars(price: float | None) -> str:
    """A price for a table; `-` where there is none."""
    return "-" if price is None else f"{price:.10g}"


def add_format(parser: argparse.ArgumentParser) -> None:
    """The argument that chooses between text and JSON."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")


def add_skus_file(parser: argparse.ArgumentParser) -> None:
    """The argument that puts a user's list in the place of its region's."""
    parser.add_argument(
        "--skus",
        type=Path,
        metavar="FILE",
        help="take the sizes from this file (az vm list-skus, or the output of import-skus) instead of the region's own",
    )


def add_as_of(parser: argparse.ArgumentParser) -> None:
    """The argument that takes the lists of another day."""
    parser.add_argument(
        "--as-of",
        metavar="DATE",
        help="the sizes and capabilities that Azure listed on that day, e.g. 2025-06-02 (default: the day of the prices)",
    )


def catalogue_with(skus: Path | None, region: str | None, as_of: str | None = None) -> Catalogue:
    """The packaged catalogue of a day, with the region of the file replaced where one is given."""
    packaged = Catalogue.load(as_of)
    if skus is None:
        return packaged
    from fakeazure.catalog.importer import read

    return packaged.with_region(read(skus, region).catalogue())


def is_pattern(text: str) -> bool:
    """Return whether a name of a size stands for several."""
    return any(mark in text for mark in "*?[")


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that match a pattern, in any case of their letters."""
    return [name for name in names if fnmatch.fnmatchcase(name.lower(), pattern.lower())]


def chosen_sizes(catalogue: Catalogue, region: RegionCatalogue, wanted: str) -> list[str]:
    """Return the sizes of a region that a name or a pattern means. Raises UnknownSize, or NotSold for the size of another region."""
    if not is_pattern(wanted):
        catalogue.check_sold(wanted, region.name)
        return [wanted]
    names = matching(region.by_name, wanted)
    if not names:
        raise UnknownSize(wanted, (), f" in {region.name}: no size matches")
    return names
