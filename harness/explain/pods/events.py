"""What Karpenter said last about a pod."""

from __future__ import annotations

from harness.world import World

__all__ = ["last_sentence"]

_PREFIX = "Failed to schedule pod, "


def last_sentence(world: World, pod: str, namespace: str = "default") -> str:
    """Karpenter's last reason why a pod stays pending; empty when it said nothing."""
    for event in reversed(world.events):
        about = event.object
        is_it = about.kind == "Pod" and about.name == pod and about.namespace == namespace
        if is_it and event.reason == "FailedScheduling" and event.source == "karpenter":
            return event.message.removeprefix(_PREFIX)
    return ""
