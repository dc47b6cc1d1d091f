"""A pod that has been terminating for longer than it may does not count.

Source: autoscaler simulator/drainability/rules/longterminating/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import SKIPPED, Context, Status
from harness.clusterautoscaler.pods import ends_too_long
from harness.kube.api.objects import Object

__all__ = ["long_terminating"]


def long_terminating(pod: Object, context: Context) -> Status | None:
    """Return the rule's outcome for a pod, None where it says nothing."""
    return SKIPPED if ends_too_long(pod, context.now) else None
