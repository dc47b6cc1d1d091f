"""The Job controller."""

from __future__ import annotations

from harness.clusters.memory.controllers.tools import Tools, outcome
from harness.engine.engine import Result
from harness.kube.api.objects import Object, uid_of
from harness.kube.workloads.jobs import job

__all__ = ["Jobs"]


class Jobs:
    """Keeps the pods of Jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, owner: Object) -> Result:
        """Make the pods of one Job; try again when one is refused."""
        tools = self._tools
        living, ready, _ = tools.counts.counts_of(uid_of(owner))
        plan = job(owner, tools.controlled(owner, "Pod"))
        refused = tools.create(owner, plan.create)
        tools.set_fields(owner, {"active": living, "ready": ready})
        return outcome(refused)
