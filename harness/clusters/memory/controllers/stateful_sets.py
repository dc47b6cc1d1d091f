"""The StatefulSet controller: pods in order, and from one revision to the next.

Source: kubernetes pkg/controller/statefulset/{stateful_set,stateful_set_control}.go.
"""

from __future__ import annotations

from harness.clusters.memory.controllers.history import History
from harness.clusters.memory.controllers.tools import Tools, outcome
from harness.engine.engine import Result
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, owners_of, spec_of, status_of, uid_of
from harness.kube.api.rollouts import min_ready_seconds
from harness.kube.api.status import ignoring
from harness.kube.workloads.availability import next_available
from harness.kube.workloads.revisions import REVISION_LABEL, template_of
from harness.kube.workloads.stateful_sets import Revisions, claim_owners, stateful_set

__all__ = ["StatefulSets"]


class StatefulSets:
    """Keeps the pods of StatefulSets."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._history = History(tools)

    def reconcile(self, owner: Object) -> Result:
        """Make or delete the pods of one StatefulSet; try again when one is refused."""
        tools = self._tools
        history = self._history.revisions_of(owner)
        update = self._history.present(owner, history)
        current = next(
            (revision for revision in history if name_of(revision) == status_of(owner).get("currentRevision")), update
        )
        revisions = Revisions(name_of(current), name_of(update), template_of(current), template_of(update))
        pods, now = tools.controlled(owner, "Pod"), tools.clock.timestamp()
        plan = stateful_set(owner, pods, revisions, now)
        failed = f"create {{kind}} {{name}} in StatefulSet {name_of(owner)} failed error: "
        refused = tools.create(owner, plan.create, failed)
        if spec_of(owner).get("persistentVolumeClaimRetentionPolicy"):
            self._own_claims(owner, tools.controlled(owner, "Pod"))
        for pod in plan.delete:
            tools.delete_pod(owner, pod)
        tools.set_status(owner, {**plan.counts, "collisionCount": int(status_of(owner).get("collisionCount") or 0)})
        live = {name_of(current), name_of(update), *(labels_of(pod).get(REVISION_LABEL, "") for pod in pods)}
        self._history.truncate(owner, history, live)
        seconds = min_ready_seconds(spec_of(owner))
        return outcome(refused, next_available(pods, seconds, now) if seconds else None)

    def _own_claims(self, owner: Object, pods: list[Object]) -> None:
        """Give the claims of these pods to the StatefulSet or to their pod, as its policy says."""
        tools, namespace = self._tools, namespace_of(owner)
        mine = {uid_of(owner), *map(uid_of, pods)}
        for name, owners in claim_owners(owner, pods):
            claim = tools.view.get("PersistentVolumeClaim", name, namespace)
            if claim is None:
                continue
            others = [reference for reference in owners_of(claim) if reference["uid"] not in mine]
            if [*others, *owners] != list(owners_of(claim)):
                patch = {"metadata": {"ownerReferences": [*others, *owners] or None}}
                with ignoring(404, 409):
                    tools.writer.patch("PersistentVolumeClaim", name, patch, namespace=namespace)
