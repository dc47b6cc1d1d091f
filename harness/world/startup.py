"""The end of startup taints, in place of the agents for which NodePools put them on Nodes: no such agent runs here."""

from __future__ import annotations

from harness.kube.api.objects import spec_of, status_of
from harness.kube.scheduling.taints import taint_identity, taint_text
from harness.world.world import World

__all__ = ["end_startup"]


def end_startup(world: World) -> list[str]:
    """Remove the startup taints of all Nodes that registered, and let the world settle, until no new Node has one.

    Return the taints as `key=value:effect`, each once. A world that does not come to rest is left as it is.
    """
    removed: dict[str, None] = {}
    while True:
        any_removed = False
        for claim in world.list("NodeClaim"):
            node = world.get("Node", status_of(claim).get("nodeName") or "")
            startup = {taint_identity(taint) for taint in spec_of(claim).get("startupTaints") or ()}
            taints = spec_of(node or {}).get("taints") or ()
            remaining = [taint for taint in taints if taint_identity(taint) not in startup]
            if node is None or len(remaining) == len(taints):
                continue
            removed |= dict.fromkeys(taint_text(taint) for taint in taints if taint_identity(taint) in startup)
            world.apply({**node, "spec": {**spec_of(node), "taints": remaining}})
            any_removed = True
        if not any_removed or not world.settle(allow_rejections=True).quiescent:
            return list(removed)
