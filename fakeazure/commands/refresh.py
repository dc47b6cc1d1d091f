"""Reads what an account of your own is offered: sizes, limits and prices of a region, by the az CLI that is logged in. Never needed.

Writes `skus.json` and `market.json` into a folder: `fakeazure serve --skus FOLDER/skus.json --market FOLDER/market.json` is then as Azure
is to you today.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from fakeazure.catalog import Catalogue
from fakeazure.catalog.errors import CatalogueError
from fakeazure.catalog.importer import read
from fakeazure.commands.market_file import write_market
from fakeazure.commands.outputs import write_text
from fakeazure.market.declared_prices import item_of
from fakeazure.market.imports import prices_of, quota_of
from plainlines import print_line

ENVIRONMENT = 3
_PRICES = "https://prices.azure.com/api/retail/prices"
_PAGES = 200


class AzFailed(RuntimeError):
    """The az CLI is not there, or has refused; the text is one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `refresh`."""
    parser.add_argument("--region", required=True, help="e.g. eastus")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--prices", default=_PRICES, metavar="URL", help="Azure's price list (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Read and writes; exit code 0, 3 without az or where it is refused."""
    catalogue = Catalogue.load()
    region = catalogue.region(options.region).name
    try:
        skus = _az("vm", "list-skus", "--location", region, "--resource-type", "virtualMachines", "--all")
        usages = _az("vm", "list-usage", "--location", region)
        prices = _prices(options.prices, region)
    except AzFailed as error:
        print_line(f"fakeazure: {error}", error=True)
        return ENVIRONMENT
    options.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        answer = Path(folder, "skus.json")
        write_text(answer, json.dumps(skus))
        listed = read(answer, region)
    write_text(options.output / "skus.json", listed.text())
    extended = catalogue.with_region(listed.catalogue())
    quota, _ = quota_of(usages, extended)
    rows, _ = prices_of(prices, region)
    sold = [row for row in rows if row.size in listed.catalogue().by_name]
    write_market(options.output / "market.json", {"quota": quota, "prices": [item_of(region, row) for row in sold]})
    sizes = {row.size for row in sold}
    print_line(f"{region}: {len(listed.records)} sizes, {len(quota)} limits, prices of {len(sizes)} sizes")
    return 0


def _prices(url: str, region: str) -> list[Any]:
    """The pages of the price list, which needs no account."""
    wanted = f"serviceName eq 'Virtual Machines' and armRegionName eq '{region}' and priceType eq 'Consumption'"
    following: str | None = f"{url}?$filter={quote(wanted)}"
    pages: list[Any] = []
    while following:
        if len(pages) == _PAGES:
            raise CatalogueError(f"{url}: more than {_PAGES} pages")
        page = _az("rest", "--method", "get", "--skip-authorization-header", "--url", following)
        pages.append(page)
        following = page.get("NextPageLink") if isinstance(page, dict) else None
    return pages


def _az(*arguments: str) -> Any:
    """Return az's output. Raises AzFailed."""
    program = shutil.which("az")
    if program is None:
        raise AzFailed("refresh needs the program 'az', logged in; nothing else does")
    command = " ".join(["az", *takewhile(lambda word: not word.startswith("-"), arguments)])
    done = subprocess.run(
        [program, *arguments, "--output", "json"], capture_output=True, text=True, encoding="locale", check=False
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise AzFailed(f"{command}: {lines[0]}")
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise AzFailed(f"{command}: what it prints is no JSON") from None
