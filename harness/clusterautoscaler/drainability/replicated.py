"""A pod stays that nobody would make again.

Source: autoscaler simulator/drainability/rules/replicated/rule.go.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.clusterautoscaler.drainability.outcomes import Context, Outcome, Reason, Status
from harness.clusterautoscaler.profile import Profile
from harness.kube.api.objects import Object, controller_of, name_of, namespace_of

__all__ = ["replicated"]

_KINDS = frozenset({"ReplicationController", "Job", "ReplicaSet", "StatefulSet"})


def replicated(profile: Profile) -> Callable[[Object, Context], Status | None]:
    """Return the rule: a controller of any kind is enough where those of custom kinds do not keep their pods."""

    def rule(pod: Object, context: Context) -> Status | None:
        owner = controller_of(pod)
        custom = not profile.skip_nodes_with_custom_controller_pods
        if owner is not None and (custom or owner.get("kind") in _KINDS):
            return None
        text = f"{namespace_of(pod)}/{name_of(pod)} is not replicated"
        return Status(Outcome.BLOCKED, Reason.NOT_REPLICATED, text)

    return rule
