"""The annotation `cluster-autoscaler.kubernetes.io/safe-to-evict`: a pod says itself whether it may be moved.

Sources: autoscaler simulator/drainability/rules/{safetoevict,notsafetoevict,oncompletion}/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import DRAINABLE, WAITS, Context, Outcome, Reason, Status
from harness.kube.api.objects import Object, annotations_of, name_of

__all__ = ["not_safe_to_evict", "on_completion", "safe_to_evict"]

_SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"


def safe_to_evict(pod: Object, context: Context) -> Status | None:
    """Let a pod go that says so."""
    return DRAINABLE if annotations_of(pod).get(_SAFE) == "true" else None


def on_completion(pod: Object, context: Context) -> Status | None:
    """Wait for a pod that wants to end by itself."""
    return WAITS if annotations_of(pod).get(_SAFE) == "on-completion" else None


def not_safe_to_evict(pod: Object, context: Context) -> Status | None:
    """Keep a pod that says so."""
    if annotations_of(pod).get(_SAFE) != "false":
        return None
    text = f"pod annotated as not safe to evict present: {name_of(pod)}"
    return Status(Outcome.BLOCKED, Reason.NOT_SAFE_TO_EVICT, text)
