"""The StatefulSet controller."""

from __future__ import annotations

from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.kube.api.objects import Object, name_of, uid_of
from harness.kube.workloads.stateful_sets import stateful_set

__all__ = ["StatefulSets"]


class StatefulSets:
    """Keeps the pods of StatefulSets."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, owner: Object) -> Result:
        """Makes or deletes the pods of one; tries again when one is refused."""
        tools = self._tools
        living, ready, _ = tools.counts.of(uid_of(owner))
        plan = stateful_set(owner, tools.controlled(owner, "Pod"))
        refused = tools.create(
            owner, plan.create, f"create {{kind}} {{name}} in StatefulSet {name_of(owner)} failed error: "
        )
        for pod in plan.delete:
            tools.delete(pod)
        tools.set_status(owner, {"replicas": living, "readyReplicas": ready, "availableReplicas": ready})
        if refused is not None:
            raise ReconcileError(refused.message, wait=Wait.POLL)
        return DONE
