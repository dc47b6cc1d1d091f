"""Static pods are of their node, and do not count.

Source: autoscaler simulator/drainability/rules/mirror/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import SKIPPED, Context, Status
from harness.clusterautoscaler.pods import is_mirror_pod
from harness.kube.api.objects import Object

__all__ = ["mirror"]


def mirror(pod: Object, context: Context) -> Status | None:
    """Return the rule's outcome for a pod, None where it says nothing."""
    return SKIPPED if is_mirror_pod(pod) else None
