"""Pods of DaemonSets keep no node.

Source: autoscaler simulator/drainability/rules/daemonset/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import DRAINABLE, Context, Status
from harness.clusterautoscaler.pods import is_daemon_set_pod
from harness.kube.api.objects import Object

__all__ = ["daemon_set"]


def daemon_set(pod: Object, context: Context) -> Status | None:
    """Return the rule's outcome for a pod, None where it says nothing."""
    return DRAINABLE if is_daemon_set_pod(pod) else None
