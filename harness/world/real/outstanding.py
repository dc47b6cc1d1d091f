"""Outstanding work of the real Karpenter: until it is done a world that is quiet for a moment is not at rest."""

from __future__ import annotations

from collections.abc import Iterator

from harness.kube.api.objects import Object, condition, condition_is, is_terminating, name_of, namespace_of, short_name
from harness.kube.scheduling.pods import failed_to_schedule, is_active, is_scheduled
from harness.world.world import World

__all__ = ["outstanding_work"]

_STEPS = ("Launched", "Registered", "Initialized")


def outstanding_work(world: World) -> Iterator[str]:
    """Yield the controller's unfinished work, in words: NodeClaims in progress, objects not reconciled, pods without a decision."""
    for claim in world.view.list("NodeClaim"):
        if is_terminating(claim):
            yield f"NodeClaim/{name_of(claim)}: is being deleted"
        elif not all(condition_is(claim, step) for step in _STEPS):
            yield f"NodeClaim/{name_of(claim)}: not initialized"
    for kind in ("NodePool", "AKSNodeClass"):
        for obj in world.view.list(kind):
            if condition(obj, "Ready") is None and not is_terminating(obj):
                yield f"{kind}/{name_of(obj)}: not looked at"
    for node in world.view.list("Node"):
        if is_terminating(node):
            yield f"Node/{name_of(node)}: is being deleted"
    decided = {(event.object.namespace, event.object.name) for event in world.events if event.source == "karpenter"}
    for pod in world.view.indexed("pods-by-node", ""):
        if _waits(pod) and (namespace_of(pod), name_of(pod)) not in decided:
            yield f"Pod/{short_name(pod)}: Karpenter has said nothing about it"


def _waits(pod: Object) -> bool:
    """Return whether a pod waits for Karpenter: kube-scheduler found no node."""
    return failed_to_schedule(pod) and is_active(pod) and not is_scheduled(pod)
