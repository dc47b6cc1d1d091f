"""The command line: a table of subcommands, each in a module that is imported only when it is asked for.

A subcommand's module has ``add_arguments(parser)`` and ``run(arguments) -> int``. Exit codes: 0 ok, 1 an expectation failed,
2 bad input, 3 environment.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from harness.limits import LimitsError, check_limits
from harness.wording import did_you_mean
from plainlines import print_line, printable

__all__ = ["COMMANDS", "DEV_COMMANDS", "PROGRAM", "main", "whole_parser"]

PROGRAM = "harness"

# subcommand → (module, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("harness.cli.commands.run", "run scenario files"),
    "labels": (
        "harness.cli.commands.labels",
        "label keys of a release: who may ask for them, set them, who writes them",
    ),
    "requirements": ("harness.cli.commands.requirements", "what Karpenter computes for a VM size"),
    "explain": ("harness.cli.commands.explain", "why pods are where they are, or nowhere"),
    "simulate": ("harness.cli.commands.simulate", "manifests in; plan, price and explanation out"),
    "capture": ("harness.cli.commands.capture", "a runnable, anonymous scenario from a dump or a live cluster"),
    "reality": ("harness.cli.commands.reality", "how true the simulation is on your own cluster, fact by fact"),
    "migrate": ("harness.cli.commands.migrate", "from agent pools to NodePools: manifests, and what is lost"),
    "sweep": (
        "harness.cli.commands.sweep",
        "many situations, one row each: regions, releases, markets, NodePools, seeds",
    ),
    "shrink": ("harness.cli.commands.shrink", "the smallest scenario that comes to the same"),
    "compare": ("harness.cli.commands.compare", "what differs between two traces or situations"),
    "watch": ("harness.cli.commands.watch", "what happened in a world, as a film or as text"),
    "validate": ("harness.cli.commands.validate", "what the API server and Karpenter's validation refuse of manifests"),
    "upgrade-check": ("harness.cli.commands.upgrade_check", "what an upgrade of the provider does to manifests"),
    "defaults": ("harness.cli.commands.defaults", "what a scenario gets where it says nothing"),
    "options": ("harness.cli.commands.options", "the options of a release's controller"),
    "attach": ("harness.cli.commands.attach", "assert a scenario on a cluster where somebody else's Karpenter runs"),
    "launch": ("harness.cli.commands.launch", "start a controller with the token of a service account, as in a pod"),
    "schema": ("harness.cli.commands.schema", "the JSON Schema of scenario files"),
    "doctor": (
        "harness.cli.commands.doctor",
        "what is installed, what is missing for what, how old the recorded data are",
    ),
    "completion": ("harness.cli.commands.completion", "a script that completes commands and options in a shell"),
}
MAINTAINERS = "dev"
DEV_COMMANDS: dict[str, tuple[str, str]] = {
    "ci-matrix": ("harness.cli.commands.ci_matrix", "the matrix of the nightly run on clusters"),
    "answer": ("harness.conformance.command", "answer the questions of the conformance protocol, line by line"),
}
"""Subcommands of `harness dev`, which nobody needs but who works on this project."""


def main(arguments: Sequence[str]) -> int:
    """Run the subcommand that `arguments` begin with."""
    if arguments and arguments[0] == MAINTAINERS:
        return _run(arguments[1:], f"{PROGRAM} {MAINTAINERS}", DEV_COMMANDS)
    return _run(arguments, PROGRAM, COMMANDS)


def _run(arguments: Sequence[str], program: str, commands: Mapping[str, tuple[str, str]]) -> int:
    parser, names = _parser(program)
    try:
        check_limits(os.environ)
    except LimitsError as error:
        parser.error(str(error))
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command is not None and command not in commands:
        hint = (
            f"it is {PROGRAM} {MAINTAINERS} {command}" if command in DEV_COMMANDS else did_you_mean(command, commands)
        )
        parser.error(f"unknown command '{command}'; {hint}")
    chosen: argparse.ArgumentParser = parser
    for name, (module, summary) in commands.items():
        subparser = names.add_parser(name, help=summary, description=summary)
        if name == command:
            import_module(module).add_arguments(subparser)
            subparser.formatter_class = argparse.RawDescriptionHelpFormatter
            subparser.epilog = _examples(name)
            chosen = subparser
    if commands is COMMANDS:
        names.add_parser(MAINTAINERS, help=f"for maintainers: {', '.join(DEV_COMMANDS)}")
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        chosen.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.words = arguments
    result: int = import_module(commands[options.command][0]).run(options)
    return result


def whole_parser() -> argparse.ArgumentParser:
    """The parser with the options of every subcommand, which are otherwise read for the one that is asked for."""
    parser, names = _parser(PROGRAM)
    _add_all(names, COMMANDS)
    _add_all(names.add_parser(MAINTAINERS).add_subparsers(dest="command", metavar="COMMAND"), DEV_COMMANDS)
    return parser


def _add_all(names: Any, commands: Mapping[str, tuple[str, str]]) -> None:
    for name, (module, summary) in commands.items():
        import_module(module).add_arguments(names.add_parser(name, help=summary, description=summary))


def _examples(name: str) -> str:
    from harness.cli.examples import EXAMPLES

    return "\n".join(
        ["examples:" if len(EXAMPLES[name]) > 1 else "example:", *(f"  {line}" for line in EXAMPLES[name])]
    )


def _parser(program: str) -> tuple[argparse.ArgumentParser, Any]:
    parser = _Parser(prog=program, description="What Karpenter on Azure would do and why.")
    parser.add_argument(
        "--version", action=_Version, help="print the version and the releases of the provider that it knows"
    )
    return parser, parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_InAnyOrder)


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line, without the usage; `--help` lists what there is."""

    def error(self, message: str) -> NoReturn:
        """End the command with exit code 2."""
        message = printable(message)
        unknown = message.partition("unrecognized arguments: ")[2].split()
        options = [name for action in self._actions for name in action.option_strings]
        hints = [did_you_mean(word, options, limit=0) for word in unknown if word.startswith("-")]
        hint = next(filter(None, hints), f"see {self.prog} --help")
        self.exit(2, f"{self.prog}: {message}; {hint}\n" if "; " not in message else f"{self.prog}: {message}\n")


class _InAnyOrder(_Parser):
    """Options may stand between the words: `labels explain --release 1.6.5 KEY`."""

    _within = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse options first, then words; the parser asks here again for that."""
        if self._within or self._subparsers is not None:  # names of subcommands stand in their order
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False


class _Version(argparse.Action):
    """`--version`: read only when it is asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, **{**options, "dest": argparse.SUPPRESS})

    def __call__(self, parser: argparse.ArgumentParser, *unused: Any) -> None:
        from harness import __version__
        from harness.karpenter.releases import ALL_PROVIDER_RELEASES

        print_line(f"harness {__version__}, provider releases {', '.join(ALL_PROVIDER_RELEASES)}")
        parser.exit()
