"""Sides of a comparison by their names on the command line: releases, and design documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.explain.labels.comparison import Side
    from harness.world import World

__all__ = ["side_of"]


def side_of(name: str, region: str, mode: str | None = None, kubernetes: str | None = None) -> Side:
    """A document's decisions for ``design-2025-11-07``, what was tried for a release. Raises InputError, LookupError.

    ``kubernetes`` is the version to try on, the release's default without.
    """
    from harness.cli.worlds import create_world
    from harness.explain.labels.comparison import DecidedSide, TriedSide
    from harness.karpenter.releases import POLICIES

    if name in POLICIES:
        return DecidedSide(POLICIES[name])

    def new_world(**more: Any) -> World:
        return create_world(
            {"karpenter": ""}, karpenter=name, region=region, provision_mode=mode, kubernetes=kubernetes, **more
        )

    return TriedSide(new_world, mode or "")
