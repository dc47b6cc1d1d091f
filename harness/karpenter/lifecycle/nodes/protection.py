"""The annotation ``karpenter.sh/do-not-disrupt`` of a pod: whether it protects the pod now, and what Karpenter says about it.

Core ``pkg/utils/pod/scheduling.go`` (IsDoNotDisruptActive, ToleratesDisruptedNoScheduleTaint), ``pkg/utils/pod/events.go``.
"""

from __future__ import annotations

from harness.engine.clock import parse, render
from harness.karpenter.labels.core import DISRUPTED_TAINT, DO_NOT_DISRUPT
from harness.kube.api.objects import Object, annotations_of, spec_of, status_of
from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.go.text import quote
from harness.kube.scheduling.taints import tolerates
from lazyrecords import dataclass

__all__ = ["Protection", "protection_of", "tolerates_disruption"]


@dataclass(frozen=True, slots=True)
class Protection:
    """The protection of a pod by the annotation. ``event`` is type, reason and message of the event about a duration."""

    active: bool
    event: tuple[str, str, str] | None = None


_NONE, _FOR_EVER = Protection(active=False), Protection(active=True)


def protection_of(pod: Object, now: int, *, may_end: bool) -> Protection:
    """Return whether a pod is protected at ``now`` (nanoseconds since the start): for ever (`true`) or, where
    protection ``may_end``, for a duration since it started.
    """
    value = annotations_of(pod).get(DO_NOT_DISRUPT)
    if value is None or value == "true" or not may_end:
        return _FOR_EVER if value == "true" else _NONE
    try:
        duration = parse_duration(value)
    except DurationError as error:
        return _ignored(f"failed to parse {quote(value)} as a duration: {error}")
    if duration <= 0:
        return _ignored(f"duration {quote(value)} must be positive")
    started = status_of(pod).get("startTime")
    if started is None:
        return _FOR_EVER
    end = parse(started) + duration
    if now < end:
        message = f"The karpenter.sh/do-not-disrupt grace period will elapse at {render(end)}"
        return Protection(active=True, event=("Normal", "DoNotDisruptUntil", message))
    message = "The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable"
    return Protection(active=False, event=("Normal", "DoNotDisruptGracePeriodElapsed", message))


def _ignored(problem: str) -> Protection:
    message = f"Invalid karpenter.sh/do-not-disrupt annotation: {problem}, ignoring annotation"
    return Protection(active=False, event=("Warning", "InvalidDoNotDisruptAnnotation", message))


def tolerates_disruption(pod: Object) -> bool:
    """Return whether the pod tolerates the taint karpenter.sh/disrupted, so that a drain leaves it alone."""
    return bool(
        [toleration for toleration in spec_of(pod).get("tolerations") or () if tolerates(toleration, DISRUPTED_TAINT)]
    )
