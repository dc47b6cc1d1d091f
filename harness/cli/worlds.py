"""Worlds for subcommands: from options, with every mistake as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["InputError", "create_world"]


class InputError(ValueError):
    """An option whose value does not exist; the text is one line."""


def create_world(**inputs: Any) -> World:
    """A World with these inputs; those that are None keep their default. Raises InputError."""
    from harness.karpenter.releases import UnknownRelease
    from harness.scenario.problems import did_you_mean
    from harness.world import World

    given = {name: value for name, value in inputs.items() if value is not None}
    try:
        return World(**given)
    except UnknownRelease as error:
        hint = did_you_mean(error.version.removeprefix("v"), error.known, limit=0)
        hint = hint or f"known are {error.known[0]} to {error.known[-1]}"
        raise InputError(f"unknown release '{error.version}'; {hint}") from None
    except ValueError as error:
        raise InputError(str(error)) from None
