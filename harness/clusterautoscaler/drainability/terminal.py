"""A pod that has ended keeps no node.

Source: autoscaler simulator/drainability/rules/terminal/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import DRAINABLE, Context, Status
from harness.clusterautoscaler.pods import has_ended
from harness.kube.api.objects import Object

__all__ = ["terminal"]


def terminal(pod: Object, context: Context) -> Status | None:
    """Return the rule's outcome for a pod, None where it says nothing."""
    return DRAINABLE if has_ended(pod) else None
