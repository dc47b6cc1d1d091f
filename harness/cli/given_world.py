"""The world of given files: the one place where commands make it of what the files say and of what the command line says over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.cli.worlds import create_world
from harness.engine.clock import Clock

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["inputs_from", "world_from"]


def inputs_from(
    dump: Dump, words: Mapping[str, tuple[str, str | None]], options: Mapping[str, str] | None = None
) -> Inputs:
    """Return the inputs from the files, their networks included; `words` and `options` as in `inputs_of`. Raises ScenarioError."""
    from harness.cli.assumptions import inputs_of
    from harness.cli.networks import with_networks

    inputs = inputs_of([*dump.manifests, *dump.not_simulated], words, options)
    return replace(with_networks(inputs, dump.manifests), moment=dump.time())


def world_from(
    inputs: Inputs,
    names: Mapping[str, str] | None = None,
    /,
    *,
    azure: Mapping[str, Any] | None = None,
    **instead: Any,
) -> World:
    """A World of these inputs, with the subnets that the files name, which begins when a dump was made. Raises InputError.

    `names` as in `create_world`; `azure` is the market; other arguments of World take the place of those of `inputs`, None of none.
    """
    market = {**(azure or {}), **({"subnets": [*inputs.subnets]} if inputs.subnets else {})}
    arguments = {**inputs.arguments, **{name: value for name, value in instead.items() if value is not None}}
    if inputs.moment is not None:
        arguments.setdefault("clock", Clock(inputs.moment))
    options = inputs.options_of(arguments.get("karpenter"))
    return create_world(dict(names or {}), **arguments, options=dict(options) or None, azure=market or None)
