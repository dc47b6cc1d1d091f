"""A pod of kube-system that no PodDisruptionBudget selects stays for an hour.

Source: autoscaler simulator/drainability/rules/system/rule.go.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.clusterautoscaler.drainability.outcomes import DRAINABLE, Context, Outcome, Reason, Status
from harness.clusterautoscaler.pods import created
from harness.clusterautoscaler.profile import Profile
from harness.engine.clock import nanoseconds
from harness.kube.api.objects import Object, metadata_of, name_of, namespace_of

__all__ = ["system"]

_NAMESPACE = "kube-system"


def system(profile: Profile) -> Callable[[Object, Context], Status | None]:
    """Return the rule for this time."""
    timeout = nanoseconds(profile.blocking_system_pod_disruption_timeout)

    def rule(pod: Object, context: Context) -> Status | None:
        if namespace_of(pod) != _NAMESPACE or context.budgets.select(pod):
            return None
        if metadata_of(pod).get("creationTimestamp") and context.now > created(pod) + timeout:
            return DRAINABLE
        text = f"non-daemonset, non-mirrored, non-pdb-assigned kube-system pod present: {name_of(pod)}"
        return Status(Outcome.BLOCKED, Reason.SYSTEM_POD, text)

    return rule
