"""The controllers of kube-controller-manager that scenarios need, run over the memory cluster.

Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs make pods; dependents of a deleted owner go; pods of a vanished
node go; a ready node loses its not-ready taint; PodDisruptionBudgets know how many pods they can spare.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from harness.clusters.memory.pod_counts import PodCounts
from harness.engine.clock import Clock
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Sink, View, Writer
from harness.kube import workloads
from harness.kube.api.objects import (
    Object,
    controller_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.selectors import Selector, SelectorError
from harness.kube.api.status import ApiError
from harness.latest import LatestOf

_PLANS: Mapping[str, Callable[[Object, list[Object]], workloads.Plan]] = {
    "StatefulSet": workloads.stateful_set,
    "Job": workloads.job,
}
_OF_PODS = frozenset({*_PLANS, "ReplicaSet", "DaemonSet"})
"""Workloads that make pods themselves."""
_DEPLOYMENTS = 64
"""Of how many Deployments it is known which ReplicaSet they want: a template's hash is that of its text."""


class Workloads:
    """Makes and removes the pods of workloads; a key is (kind, namespace, name) of the workload."""

    name = "workloads"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._counts = PodCounts()
        self._wanted: LatestOf[Object, Object] = LatestOf(_DEPLOYMENTS)

    def watches(self) -> Mapping[str, Router]:
        """Workloads, their pods, and nodes for the sake of DaemonSets."""
        own = dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"), self._own)
        return {**own, "Pod": self._of_pod, "Node": self._of_node}

    def _own(self, change: Change) -> Iterable[Hashable]:
        if change.type is not ChangeType.DELETED:
            yield (change.object["kind"], namespace_of(change.object), name_of(change.object))
        owner = controller_of(change.object)
        if owner is not None and owner["kind"] == "Deployment":
            yield ("Deployment", namespace_of(change.object), owner["name"])

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        self._counts.hear(change)
        owner = controller_of(change.object)
        if owner is None or owner["kind"] not in _OF_PODS:
            return ()
        return ((owner["kind"], namespace_of(change.object), owner["name"]),)

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        for each in self._view.list("DaemonSet"):
            yield ("DaemonSet", namespace_of(each), name_of(each))

    def reconcile(self, key: Hashable) -> Result:
        """Brings the pods of one workload to what it wants; tries again when one is refused."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        owner = self._view.get(kind, name, namespace)
        if owner is None or metadata_of(owner).get("deletionTimestamp"):
            return DONE
        if kind == "Deployment":
            self._roll(owner, self._dependents(owner, "ReplicaSet"))
            return DONE
        living, ready = self._counts.of(uid_of(owner))
        if kind == "ReplicaSet" and living <= int(spec_of(owner)["replicas"]):
            plan = workloads.missing_pods(owner, living)  # as it mostly is; which pods there are does not matter then
        elif kind == "ReplicaSet":
            plan = workloads.replica_set(
                owner, self._dependents(owner, "Pod"), self._related(owner), self._clock.datetime()
            )
        elif kind == "DaemonSet":
            plan = workloads.daemon_set(owner, self._dependents(owner, "Pod"), self._view.list("Node"))
        else:
            plan = _PLANS[kind](owner, self._dependents(owner, "Pod"))
        refused = self._create(owner, plan.create)
        for pod in plan.delete:
            self._writer.delete("Pod", name_of(pod), namespace=namespace_of(pod))
        self._report(owner, living, ready, plan.counts)
        if refused is not None:
            raise ReconcileError(refused.message, wait=Wait.POLL)
        return DONE

    def _roll(self, owner: Object, sets: list[Object]) -> None:
        # what a Deployment wants depends on its spec alone, which stays the same object while status is written
        spec = spec_of(owner)
        wanted = self._wanted.of(spec, lambda: workloads.deployment_replica_set(owner), uid_of(owner))
        current = next((each for each in sets if name_of(each) == name_of(wanted)), None)
        if current is None:
            self._writer.create(wanted)
        elif spec_of(current).get("replicas") != wanted["spec"]["replicas"]:
            self._writer.scale("ReplicaSet", name_of(current), namespace_of(current), wanted["spec"]["replicas"])
        for each in sets:
            if each is not current and spec_of(each).get("replicas"):
                self._writer.scale("ReplicaSet", name_of(each), namespace_of(each), 0)
        if current is not None:
            self._set_status(owner, {**status_of(current), "updatedReplicas": status_of(current).get("replicas", 0)})

    def _dependents(self, owner: Object, kind: str) -> list[Object]:
        return [each for each in self._view.indexed("owned-by", uid_of(owner)) if each["kind"] == kind]

    def _related(self, owner: Object) -> list[Object]:
        """The pods that the selectors of all ReplicaSets with the same controller select; none without a controller.

        Source: kubernetes pkg/controller/replicaset/replica_set.go (getIndirectlyRelatedPods).
        """
        controller = controller_of(owner)
        if controller is None:
            return []
        siblings = [
            each
            for each in self._view.indexed("owned-by", controller["uid"])
            if each["kind"] == "ReplicaSet" and (controller_of(each) or {}).get("uid") == controller["uid"]
        ]
        try:
            selectors = [Selector.parse(spec_of(each).get("selector")) for each in siblings]
        except SelectorError:
            return []
        pods = self._view.list("Pod", namespace=namespace_of(owner))
        return [pod for pod in pods if any(each.matches(labels_of(pod)) for each in selectors)]

    def _report(self, owner: Object, living: int, ready: int, of_nodes: Mapping[str, int]) -> None:
        if owner["kind"] in ("ReplicaSet", "StatefulSet"):
            self._set_status(owner, {"replicas": living, "readyReplicas": ready, "availableReplicas": ready})
        elif owner["kind"] == "DaemonSet":
            self._set_status(owner, of_nodes)
        elif owner["kind"] == "Job":
            self._set_status(owner, {"active": living, "ready": ready})

    def _set_status(self, owner: Object, status: Mapping[str, Any]) -> None:
        status = {**status, "observedGeneration": metadata_of(owner).get("generation", 1)}
        present = status_of(owner)
        if any(present.get(key) != value for key, value in status.items()):
            self._writer.patch(
                owner["kind"], name_of(owner), {"status": status}, namespace=namespace_of(owner), subresource="status"
            )

    def _create(self, owner: Object, wanted: Iterable[Object]) -> ApiError | None:
        """Makes pods and their claims until one is refused; returns the refusal.

        A claim that a pod of the same name left behind is used again.
        """
        for obj in wanted:
            if obj["kind"] != "Pod" and self._view.get(obj["kind"], name_of(obj), namespace_of(obj)) is not None:
                continue
            try:
                self._writer.create(obj)
            except ApiError as error:
                kind = owner["kind"]
                what = f"create {obj['kind']} {name_of(obj)} in StatefulSet {name_of(owner)} failed error: "
                text = f"{what if kind == 'StatefulSet' else 'Error creating: '}{error.message}"
                self._sink.event(owner, "Warning", "FailedCreate", text, source=f"{kind.lower()}-controller")
                return error
        return None
