"""The DaemonSet controller: a pod on each node, and from one revision to the next.

Source: kubernetes pkg/controller/daemon/{daemon_controller,update}.go.
"""

from __future__ import annotations

from harness.clusters.memory.controllers.history import History
from harness.clusters.memory.controllers.tools import Tools, outcome
from harness.engine.engine import Result
from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.api.rollouts import min_ready_seconds
from harness.kube.workloads.availability import next_available
from harness.kube.workloads.daemon_sets import daemon_set
from harness.kube.workloads.revisions import REVISION_LABEL

__all__ = ["DaemonSets"]


class DaemonSets:
    """Keeps the pods of DaemonSets."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._history = History(tools)

    def reconcile(self, owner: Object) -> Result:
        """Make or delete the pods of one DaemonSet; try again when one is refused."""
        tools = self._tools
        history = self._history.revisions_of(owner)
        current = self._history.present(owner, history)
        pods, now = tools.controlled(owner, "Pod"), tools.clock.timestamp()
        plan = daemon_set(owner, pods, tools.view.list("Node"), labels_of(current).get(REVISION_LABEL, ""), now)
        refused = tools.create(owner, plan.create)
        for pod in plan.delete:
            tools.delete_pod(owner, pod)
        tools.set_status(owner, plan.counts)
        if len(history) > 1:
            live = {labels_of(pod).get(REVISION_LABEL, "") for pod in pods}
            live_names = [name_of(revision) for revision in history if labels_of(revision).get(REVISION_LABEL) in live]
            self._history.truncate(owner, history, [name_of(current), *live_names])
        seconds = min_ready_seconds(spec_of(owner))
        return outcome(refused, next_available(pods, seconds, now) if seconds else None)
