"""A pod stays where its controller is gone, or has too few replicas.

Source: autoscaler simulator/drainability/rules/replicacount/rule.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.clusterautoscaler.drainability.outcomes import Context, Outcome, Reason, Status
from harness.clusterautoscaler.pods import is_daemon_set_pod
from harness.clusterautoscaler.profile import Profile
from harness.kube.api.objects import Object, controller_of, name_of, namespace_of, spec_of

__all__ = ["replica_count"]

_SCALED = ("ReplicaSet", "ReplicationController")
_IN_APPS = ("DaemonSet", "StatefulSet")
_WORDS = {
    "DaemonSet": "daemonset for {pod} is not present, err: {error}",
    "Job": "job for {pod} is not available: err: {error}",
    "ReplicaSet": "replication controller for {pod} is not available, err: {error}",
    "ReplicationController": "replication controller for {pod} is not available, err: {error}",
    "StatefulSet": "statefulset for {pod} is not available: err: {error}",
}
_RESOURCES = {
    "DaemonSet": "daemonset.apps",
    "Job": "job.batch",
    "ReplicaSet": "replicaset.apps",
    "ReplicationController": "replicationcontroller",
    "StatefulSet": "statefulset.apps",
}


def replica_count(profile: Profile) -> Callable[[Object, Context], Status | None]:
    """Return the rule for this smallest number of replicas."""

    def rule(pod: Object, context: Context) -> Status | None:
        owner = controller_of(pod)
        if context.lookup is None or owner is None:
            return None
        kind = _kind(pod, owner)
        if kind is None:
            return None
        controller = context.lookup(kind, str(owner.get("name")), namespace_of(pod))
        place = f"{namespace_of(pod)}/{name_of(pod)}"
        if controller is None:
            error = f'{_RESOURCES[kind]} "{owner.get("name")}" not found'
            text = _WORDS[kind].format(pod=place, error=error)
            return Status(Outcome.BLOCKED, Reason.CONTROLLER_NOT_FOUND, text)
        replicas = spec_of(controller).get("replicas")
        if kind in _SCALED and replicas is not None and int(replicas) < profile.min_replica_count:
            text = (
                f"replication controller for {place} has too few replicas spec: {replicas} "
                f"min: {profile.min_replica_count}"
            )
            return Status(Outcome.BLOCKED, Reason.MIN_REPLICAS_REACHED, text)
        return None

    return rule


def _kind(pod: Object, owner: Any) -> str | None:
    """Return the kind of controller that is looked for; None for one that the autoscaler does not know."""
    kind, in_apps = str(owner.get("kind")), str(owner.get("apiVersion")).startswith("apps/")
    if kind in ("ReplicationController", "Job", "ReplicaSet"):
        return None if is_daemon_set_pod(pod) and kind != "ReplicationController" else kind
    if kind in _IN_APPS and in_apps:
        return None if is_daemon_set_pod(pod) and kind != "DaemonSet" else kind
    return None
