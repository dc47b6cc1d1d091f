"""The DaemonSet controller."""

from __future__ import annotations

from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.kube.api.objects import Object
from harness.kube.workloads.daemon_sets import daemon_set

__all__ = ["DaemonSets"]


class DaemonSets:
    """Keeps the pods of DaemonSets."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, owner: Object) -> Result:
        """Makes or deletes the pods of one; tries again when one is refused."""
        tools = self._tools
        plan = daemon_set(owner, tools.controlled(owner, "Pod"), tools.view.list("Node"))
        refused = tools.create(owner, plan.create)
        for pod in plan.delete:
            tools.delete(pod)
        tools.set_status(owner, plan.counts)
        if refused is not None:
            raise ReconcileError(refused.message, wait=Wait.POLL)
        return DONE
