"""`harness upgrade-check --to-kubernetes`: what an upgrade of the control plane does to the nodes of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.cli.moves import Moves
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["rollout"]


def rollout(world: World, dump: Dump, kubernetes: str, seconds: float | None) -> tuple[Moves, list[str]]:
    """The moves after the upgrade, and Nodes for which there is no machine. Raises ScenarioError.

    The Nodes of a dump are taken over; without any, those are there that Karpenter makes for the pods.
    """
    from harness.cli.adoption import Adoption, managed_nodes
    from harness.cli.manifests import apply_manifests, settle
    from harness.cli.moves import moves_until
    from harness.world.startup import end_startup

    missing: list[str] = []
    if managed_nodes(dump):
        adoption = Adoption(world, dump)
        adoption.apply(dump.manifests)
        missing = adoption.missing
    else:
        apply_manifests(world, dump.manifests)
        settle(world)
        end_startup(world)
    world.upgrade_kubernetes(kubernetes)
    return moves_until(world, seconds), missing
