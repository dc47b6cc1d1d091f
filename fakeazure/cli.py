"""The command line: a table of subcommands, each imported only when it is asked for.

A subcommand's module has `add_arguments(parser)` and `run(options) -> int`. Exit codes: 0 ok, 1 an expectation failed,
2 bad input (one line on stderr), 3 the environment (a file that cannot be written, a port that is taken).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from fakeazure.catalog.errors import CatalogueError, nearest
from plainlines import print_line, print_lines, printable

BAD_INPUT = 2
ENVIRONMENT = 3


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: the module that has it, what it is for in one line, and examples of it."""

    module: str
    purpose: str
    examples: tuple[str, ...]


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line, without the usage; `--help` lists what there is."""

    def error(self, message: str) -> NoReturn:
        """End the command with exit code 2."""
        unknown = message.partition("unrecognized arguments: ")[2].split()
        options = [name for action in self._actions for name in action.option_strings]
        near = next((close[0] for word in unknown if word.startswith("-") and (close := nearest(word, options))), None)
        hint = f"see {self.prog} --help" if near is None else f"did you mean {near!r}?"
        self.exit(BAD_INPUT, f"{self.prog}: {printable(' '.join(message.split()))}; {hint}\n")


class CommandModule(Protocol):
    """The interface of a subcommand's module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the subcommand's arguments."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the subcommand; return the exit code."""


COMMANDS: dict[str, Command] = {
    "skus": Command(
        "fakeazure.commands.skus",
        "the sizes that a region sells, as a table or as ARM's list",
        ("fakeazure skus --region eastus --size 'Standard_D*s_v5'",),
    ),
    "sizes": Command(
        "fakeazure.commands.sizes",
        "all sizes: vCPUs, memory, in how many regions, cheapest and dearest",
        ("fakeazure sizes --size 'Standard_NC*'",),
    ),
    "prices": Command(
        "fakeazure.commands.prices",
        "on-demand prices, of a region or of sizes in all regions",
        ("fakeazure prices --size Standard_D4s_v5", "fakeazure prices --region eastus --size 'Standard_D4*_v5'"),
    ),
    "regions": Command(
        "fakeazure.commands.regions",
        "the regions, their zones and how many sizes they sell",
        ("fakeazure regions",),
    ),
    "serve": Command(
        "fakeazure.commands.serve",
        "serve a world of Azure over HTTP and HTTPS for real clients",
        ("fakeazure serve --region westeurope --state cloud", "fakeazure serve --market market.yaml --keep world"),
    ),
    "coverage": Command(
        "fakeazure.commands.coverage",
        "the operations of Azure that are served, and what of them is left out",
        ("fakeazure coverage --format markdown",),
    ),
    "import-skus": Command(
        "fakeazure.commands.import_skus",
        "check an `az vm list-skus -o json` and make it usable",
        ("fakeazure import-skus skus.json",),
    ),
    "import-prices": Command(
        "fakeazure.commands.import_prices",
        "make a market of Azure's price list",
        ("fakeazure import-prices prices.json --region eastus",),
    ),
    "import-usages": Command(
        "fakeazure.commands.import_usages",
        "make a market of an `az vm list-usage -o json`",
        ("fakeazure import-usages usage.json",),
    ),
    "refresh": Command(
        "fakeazure.commands.refresh",
        "sizes, limits and prices of your own account, by az; never needed",
        ("fakeazure refresh --region eastus -o account",),
    ),
}


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print_lines(_usage())
        return 0 if arguments else BAD_INPUT
    name, *rest = arguments
    if name not in COMMANDS:
        hint = nearest(name, COMMANDS)
        return _refuse(
            f"unknown command {name!r}" + (f"; did you mean {hint[0]!r}?" if hint else ": see fakeazure --help")
        )
    command = COMMANDS[name]
    module: CommandModule = importlib.import_module(command.module)
    parser = parser_of(name)
    try:
        options = parser.parse_args(rest)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return module.run(options)
    except CatalogueError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print_line(f"fakeazure: {where}{error.strerror or error}", error=True)
        return ENVIRONMENT


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a subcommand, whose help ends with its examples."""
    command = COMMANDS[name]
    module: CommandModule = importlib.import_module(command.module)
    parser = _Parser(
        prog=f"fakeazure {name}",
        description=module.__doc__,
        epilog="\n".join(("examples:", *(f"  {line}" for line in command.examples))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser


def _refuse(message: str) -> int:
    for line in message.splitlines():
        print_line(f"fakeazure: {line}", error=True)
    return BAD_INPUT


def _usage() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:<{width}}  {command.purpose}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: fakeazure COMMAND [ARGUMENTS]", "", *lines, "", "fakeazure COMMAND --help tells more."])
