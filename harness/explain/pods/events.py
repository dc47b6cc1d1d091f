"""The last words of a scheduler about a pod."""

from __future__ import annotations

from harness.world import World

__all__ = ["last_sentence"]

_PREFIX = "Failed to schedule pod, "


def last_sentence(world: World, pod: str, namespace: str = "default", source: str = "karpenter") -> str:
    """The last reason that a scheduler, by default Karpenter, gave why a pod stays pending; empty when it gave none."""
    for event in reversed(world.events):
        about = event.object
        is_it = about.kind == "Pod" and about.name == pod and about.namespace == namespace
        if is_it and event.reason == "FailedScheduling" and event.source == source:
            return event.message.removeprefix(_PREFIX)
    return ""
