"""The controllers that tell ReplicaSets which pods to remove first: by the annotation ``controller.kubernetes.io/pod-deletion-cost``.

Core ``pkg/controllers/pod/deletioncost/{controller,queue}.go``, since 1.15.0, behind the gate PodDeletionCostManagement.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import View, Writer, key_at_first
from harness.karpenter.disruption.deletion_ranking import deletion_costs, has_cost
from harness.karpenter.disruption.observer import Observer
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.refusals import retried_after_refusals
from harness.kube.api.objects import Object, metadata_of, name_of, namespace_of, uid_of
from harness.kube.api.status import ignoring
from harness.kube.deletion_order import DELETION_COST

__all__ = ["GATE", "DeletionCostWrites", "DeletionCosts"]

GATE = "PodDeletionCostManagement"
_TURN = "turn"
_EVERY = Result(60.0, Wait.ALARM)
_UNSYNCED = Result(1.0)

Key = tuple[str, str, str]
"""A pod's namespace, name and uid."""


class DeletionCostWrites:
    """Writes the costs; a key is a pod. A pod that is gone, or that somebody else has changed, is left alone."""

    name = "pod.deletioncost.queue"
    backoff = (0.1, 10.0)

    def __init__(self, engine: Engine, view: View, writer: Writer) -> None:
        self._engine, self._view, self._writer = engine, view, writer
        self._wanted: dict[Key, int | None] = {}

    def watches(self) -> Mapping[str, Router]:
        """Nothing: it does what it is asked for."""
        return {}

    def put(self, pod: Object, cost: int | None) -> None:
        """Ask for a pod's cost; the last request counts."""
        key = namespace_of(pod), name_of(pod), uid_of(pod)
        self._wanted[key] = cost
        self._engine.enqueue(self, key)

    def reconcile(self, key: Hashable) -> Result:
        """Write the cost of one pod."""
        assert isinstance(key, tuple)
        namespace, name, uid = key
        pod = self._view.get("Pod", name, namespace)
        cost = self._wanted.get(key)
        if key in self._wanted and pod is not None and uid_of(pod) == uid and not has_cost(pod, cost):
            with retried_after_refusals(), ignoring(404, 409):
                self._write(pod, cost)
        self._wanted.pop(key, None)
        return DONE

    def _write(self, pod: Object, cost: int | None) -> None:
        marks = {DELETION_COST: None if cost is None else str(cost)}
        metadata = {"annotations": marks, "resourceVersion": metadata_of(pod).get("resourceVersion")}
        self._writer.patch("Pod", name_of(pod), {"metadata": metadata}, namespace=namespace_of(pod))


class DeletionCosts:
    """Ranks the nodes once a minute, if something has happened that matters to consolidation; the only key is its turn.

    It starts with the first NodeClaim: before it there is nothing to rank.
    """

    name = "pod.deletioncost"
    backoff = (0.005, 1000.0)

    def __init__(self, observer: Observer, marks: Marks, writes: DeletionCostWrites) -> None:
        self._observer, self._marks, self._writes = observer, marks, writes
        self._ranked: int | None = None
        self._first = key_at_first(_TURN)

    def watches(self) -> Mapping[str, Router]:
        """The first NodeClaim."""
        return {"NodeClaim": self._first}

    def reconcile(self, key: Hashable) -> Result:
        """Ask for the costs of all pods whose costs have changed."""
        view = self._observer.look()
        if not view.synced:
            return _UNSYNCED
        since = self._marks.unsettled_since()
        if since == self._ranked or not view.nodes:
            return _EVERY
        for change in deletion_costs(Situation(view)):
            self._writes.put(change.pod, change.cost)
        self._ranked = since
        return _EVERY
