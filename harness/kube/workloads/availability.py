"""The time since which a pod is available: ready for as long as its workload requires.

Source: kubernetes pkg/api/v1/pod/util.go (IsPodAvailable), pkg/controller/controller_utils.go (FindMinNextPodAvailabilityCheck).
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.kube.api.objects import Object, condition
from harness.kube.go.times import seconds_between

__all__ = ["is_available", "next_available", "until_available"]


def until_available(pod: Object, seconds: int, now: str) -> float | None:
    """Return the seconds until a pod has been ready for so many seconds, 0 where it has; None for one that is not ready."""
    ready = condition(pod, "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    since = ready.get("lastTransitionTime")
    if not seconds or not since:
        return 0.0
    return max(0.0, seconds - seconds_between(str(since), now))


def is_available(pod: Object, seconds: int, now: str) -> bool:
    """Return whether a pod has been ready for so many seconds."""
    return until_available(pod, seconds, now) == 0.0


def next_available(pods: Iterable[Object], seconds: int, now: str) -> float | None:
    """Return the seconds until the next pod becomes available; None where none is on its way."""
    waits = (until_available(pod, seconds, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)
