"""Worlds for subcommands: from options, with every mistake as one line that names its option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plainlines import joined

if TYPE_CHECKING:
    import argparse

    from harness.world import World
    from harness.world.inputs import InputMistake

__all__ = [
    "OPTIONS",
    "InputError",
    "UnknownMode",
    "add_as_of",
    "check_release",
    "check_size",
    "check_spot_discount",
    "create_world",
]

OPTIONS = {
    "karpenter": "--release",
    "kubernetes": "--kubernetes",
    "region": "--region",
    "provision_mode": "--mode",
    "azure.asOf": "--as-of",
    "options": "--option",
}
"""The option that each input comes from, where a subcommand has no other name for it."""


class InputError(ValueError):
    """Options whose values do not exist: one line for each. `mistake` is the first that the inputs' check found, if it did."""

    def __init__(self, *lines: str, mistake: InputMistake | None = None) -> None:
        super().__init__(joined(lines))
        self.mistake = mistake


class UnknownMode(InputError):
    """A provision mode with which the release does not start."""


def create_world(names: dict[str, str] | None = None, /, **inputs: Any) -> World:
    """A World with these inputs; those that are None keep their default. Raises InputError.

    `names` are the words under which the user gave inputs, in place of `OPTIONS`.
    """
    from harness.world import World
    from harness.world.inputs import input_mistakes, typed_options

    values = {name: value for name, value in inputs.items() if value is not None}
    mistakes = list(input_mistakes(values))
    if mistakes:
        words = {**OPTIONS, **(names or {})}
        options = [
            words.get(".".join(map(str, mistake.path[:2]))) or words.get(str(mistake.path[0])) for mistake in mistakes
        ]
        lines = [
            f"{option}: {mistake}" if option else str(mistake)
            for option, mistake in zip(options, mistakes, strict=True)
        ]
        only_mode = [mistake.path for mistake in mistakes] == [("provision_mode",)]
        raise (UnknownMode if only_mode else InputError)(*lines, mistake=mistakes[0])
    if "options" in values:
        values["options"] = typed_options(values["options"])[0]
    return World(**values)


def add_as_of(parser: argparse.ArgumentParser) -> None:
    """Declare `--as-of`, the day of Azure's lists of sizes."""
    parser.add_argument(
        "--as-of",
        metavar="DATE",
        help="the sizes, capabilities and node images that Azure listed on that day, e.g. 2025-06-02 (default: the day of the prices)",
    )


def check_release(name: str | None, option: str = "--release") -> None:
    """Raise InputError for a release that does not exist."""
    from harness.world.inputs import release_mistake

    mistake = release_mistake(name) if name is not None else None
    if mistake is not None:
        raise InputError(f"{option}: {mistake}", mistake=mistake)


def check_spot_discount(text: str) -> str:
    """The value of `--spot-discount`. Raises InputError for what is no percentage."""
    from fakeazure.market.spot_discount import SPOT_DISCOUNT, spot_discount_of
    from fakeazure.market.wording import MarketError

    try:
        spot_discount_of({SPOT_DISCOUNT: text})
    except MarketError as error:
        raise InputError(f"--spot-discount: {error.what}") from None
    return text


def check_size(world: World, size: str | None) -> None:
    """Raise InputError for a size that the world's region does not sell."""
    from harness.world.inputs import size_mistake

    mistake = size_mistake(size, world.region, world.caches) if size is not None else None
    if mistake is not None:
        raise InputError(f"--size: {mistake}", mistake=mistake)
