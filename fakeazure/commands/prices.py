"""On-demand prices in USD per hour (Linux, pay as you go): of all sizes in a region, or of some sizes in all regions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from fakeazure.catalog import Catalogue, RegionCatalogue
from fakeazure.catalog.errors import CatalogueError, UnknownSize
from fakeazure.commands.table import add_format, chosen_sizes, dollars, is_pattern, matching, render, to_json
from plainlines import print_document, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `prices`."""
    parser.add_argument("--region", help="short name, e.g. eastus")
    parser.add_argument("--size", metavar="NAME", help="only this size, or those that match NAME's * and ?")
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
        names = chosen_sizes(catalogue, region, options.size)
        return _show({name: region.prices[name] for name in names if name in region.prices}, "NAME", options.format)
    regions = [catalogue.region(name) for name in catalogue.regions]
    if is_pattern(options.size):
        return _show_in_all(regions, options.size, options.format)
    selling = {region.name: region.prices[options.size] for region in regions if options.size in region.prices}
    if not selling:
        raise UnknownSize(options.size, {name for region in regions for name in region.by_name})
    return _show(dict(sorted(selling.items(), key=lambda item: item[1])), "REGION", options.format)


def _show_in_all(regions: Sequence[RegionCatalogue], pattern: str, form: str) -> int:
    """Print the prices of all sizes that match, in each region, the cheapest region of a size first."""
    names = matching(sorted({name for region in regions for name in region.by_name}), pattern)
    if not names:
        raise UnknownSize(pattern, (), ": no size matches")
    selling = {
        name: dict(
            sorted(
                ((region.name, region.prices[name]) for region in regions if name in region.prices),
                key=lambda item: item[1],
            )
        )
        for name in names
    }
    if form == "json":
        print_document(to_json(selling) + "\n")
        return 0
    rows = [(name, region, dollars(price)) for name, prices in selling.items() for region, price in prices.items()]
    print_lines(render(("NAME", "REGION", "USD/H"), rows, frozenset({2})))
    return 0


def _show(prices: dict[str, float], subject: str, form: str) -> int:
    if form == "json":
        print_document(to_json(prices) + "\n")
    else:
        print_lines(
            render((subject, "USD/H"), [(name, dollars(price)) for name, price in prices.items()], frozenset({1}))
        )
    return 0
