"""The ReplicaSet controller: as many pods as its spec wants, and a status that counts them.

A ReplicationController is kept by the same code, which sees it as a ReplicaSet.

Source: kubernetes pkg/controller/replicaset/{replica_set,replica_set_utils}.go, pkg/controller/replication/conversion.go.
"""

from __future__ import annotations

from typing import Any

from harness.clusters.memory.controllers.tools import Tools, outcome
from harness.engine.engine import Result
from harness.kube.api.objects import (
    Object,
    condition,
    conditions_of,
    controller_of,
    labels_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.rollouts import min_ready_seconds
from harness.kube.api.selectors import Selector, SelectorError
from harness.kube.api.status import ApiError
from harness.kube.workloads.availability import is_available, next_available
from harness.kube.workloads.plans import living
from harness.kube.workloads.replica_sets import missing_pods, replica_set

__all__ = ["ReplicaSets"]

_FAILURE = "ReplicaFailure"
_COUNTS_TERMINATING = (1, 35)
"""The version from which on a status counts the pods that end (feature gate DeploymentReplicaSetTerminatingReplicas)."""


class ReplicaSets:
    """Keeps the pods of ReplicaSets and ReplicationControllers."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, owner: Object) -> Result:
        """Make or delete the pods of one workload; try again when one is refused."""
        tools = self._tools
        count, ready, terminating = tools.counts.counts_of(uid_of(owner))
        if count <= int(spec_of(owner).get("replicas", 1)):
            plan = missing_pods(owner, count)  # the usual case; which pods there are does not matter then
        else:
            plan = replica_set(owner, tools.controlled(owner, "Pod"), self._related(owner), tools.clock.datetime())
        refused = tools.create(owner, plan.create)
        for pod in plan.delete:
            tools.delete_pod(owner, pod)
        seconds = min_ready_seconds(spec_of(owner))
        available, wait = self._available(owner, seconds) if seconds and ready else (ready, None)
        counts: dict[str, Any] = {
            "replicas": count,
            "fullyLabeledReplicas": count,
            "readyReplicas": ready,
            "availableReplicas": available,
        }
        if owner["kind"] == "ReplicaSet" and tools.version() >= _COUNTS_TERMINATING:
            counts["terminatingReplicas"] = terminating
        tools.set_status(owner, counts | self._failure(owner, refused))
        return outcome(refused, wait)

    def _available(self, owner: Object, seconds: int) -> tuple[int, float | None]:
        """Return the number of available pods, and the seconds until the next one is."""
        pods, now = living(self._tools.controlled(owner, "Pod")), self._tools.clock.timestamp()
        return sum(is_available(pod, seconds, now) for pod in pods), next_available(pods, seconds, now)

    def _failure(self, owner: Object, refused: ApiError | None) -> dict[str, Any]:
        """Return the conditions with the last refusal, where they change."""
        if (refused is None) == (condition(owner, _FAILURE) is None):
            return {}
        others = [condition for condition in conditions_of(owner) if condition["type"] != _FAILURE]
        if refused is None:
            return {"conditions": others or None}
        failure = {
            "type": _FAILURE,
            "status": "True",
            "lastTransitionTime": self._tools.clock.timestamp(),
            "reason": "FailedCreate",
            "message": refused.message,
        }
        return {"conditions": [*others, failure]}

    def _related(self, owner: Object) -> list[Object]:
        """The pods that the selectors of all ReplicaSets with the same controller select; none without a controller.

        Source: replica_set.go (getIndirectlyRelatedPods).
        """
        controller = controller_of(owner)
        if controller is None:
            return []
        siblings = [
            owned
            for owned in self._tools.view.indexed("owned-by", controller["uid"])
            if owned["kind"] == "ReplicaSet" and (controller_of(owned) or {}).get("uid") == controller["uid"]
        ]
        try:
            selectors = [Selector.parse(spec_of(sibling).get("selector")) for sibling in siblings]
        except SelectorError:
            return []
        pods = self._tools.view.list("Pod", namespace=namespace_of(owner))
        return [pod for pod in pods if any(selector.matches(labels_of(pod)) for selector in selectors)]
