"""The controllers of workloads as one: the keys that a change concerns, and the controller of each kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Protocol

from harness.clusters.memory.controllers.adoption import Adoption, may_be_claimed
from harness.clusters.memory.controllers.daemon_sets import DaemonSets
from harness.clusters.memory.controllers.deployments import Deployments
from harness.clusters.memory.controllers.replica_sets import ReplicaSets
from harness.clusters.memory.controllers.selecting import Selecting
from harness.clusters.memory.controllers.stateful_sets import StatefulSets
from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import (
    Object,
    controller_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.workloads.daemon_sets import is_concerned

__all__ = ["Workloads"]

_OF_PODS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet")
"""Workloads that make pods themselves and go on for ever."""


class _OneKind(Protocol):
    def reconcile(self, owner: Object) -> Result: ...


class Workloads:
    """Makes and removes the pods of workloads; a key is (kind, namespace, name) of the workload."""

    name = "workloads"
    backoff = (0.005, 1000.0)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._selecting = Selecting()
        self._adoption = Adoption(tools, self._selecting)
        replicas = ReplicaSets(tools)
        self._kinds: Mapping[str, _OneKind] = {
            "Deployment": Deployments(tools),
            "ReplicaSet": replicas,
            "ReplicationController": replicas,
            "StatefulSet": StatefulSets(tools),
            "DaemonSet": DaemonSets(tools),
        }

    def watches(self) -> Mapping[str, Router]:
        """Watch workloads, their pods, and nodes for the sake of DaemonSets."""
        return {**dict.fromkeys(self._kinds, self._own), "Pod": self._of_pod, "Node": self._of_node}

    def _own(self, change: Change) -> Iterable[Hashable]:
        obj = change.object
        self._selecting.hear(change)
        if change.type is not ChangeType.DELETED:
            yield (obj["kind"], namespace_of(obj), name_of(obj))
        if obj["kind"] == "ReplicaSet":
            self._tools.orphans.hear(change)
            owner = controller_of(obj)
            if owner is not None and owner["kind"] == "Deployment":
                yield ("Deployment", namespace_of(obj), owner["name"])
            elif owner is None and may_be_claimed(change):
                yield from self._selecting.workloads_selecting(obj, "Deployment")

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        pod, old = change.object, change.old
        self._tools.counts.hear(change)
        owner = controller_of(pod)
        if owner is None:
            self._tools.orphans.hear(change)
            if may_be_claimed(change):
                yield from self._selecting.workloads_selecting(pod, *_OF_PODS)
            return
        if change.type is not ChangeType.MODIFIED:
            self._tools.orphans.hear(change)
        elif old is not None and pod["metadata"] is not old["metadata"]:
            self._tools.orphans.hear(change)
            if labels_of(pod) != labels_of(old):
                self._adoption.suspect(owner["uid"])
        if owner["kind"] not in self._kinds:
            return
        yield (owner["kind"], namespace_of(pod), owner["name"])
        if change.type is ChangeType.DELETED and owner["kind"] == "ReplicaSet":
            yield from self._recreated(namespace_of(pod), owner["name"])

    def _recreated(self, namespace: str, replica_set: str) -> Iterable[Hashable]:
        """Yield the Deployment that waits for its last old pod to be gone (deployment_controller.go, deletePod)."""
        owner_set = self._tools.view.get("ReplicaSet", replica_set, namespace)
        owner = None if owner_set is None else controller_of(owner_set)
        if owner is not None:
            deployment = self._tools.view.get("Deployment", owner["name"], namespace)
            if deployment is not None and (spec_of(deployment).get("strategy") or {}).get("type") == "Recreate":
                yield ("Deployment", namespace, owner["name"])

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        """Yield the DaemonSets that a node's new labels or taints concern (daemon_controller.go, updateNode)."""
        node, old = change.object, change.old
        if change.type is ChangeType.DELETED or (old is not None and _is_like(node, old)):
            return
        view = self._tools.view
        owners = map(controller_of, view.indexed("pods-by-node", name_of(node)))
        present = {owner["uid"] for owner in owners if owner is not None}
        for daemon_set in view.list("DaemonSet"):
            if is_concerned(daemon_set, node, scheduled=uid_of(daemon_set) in present):
                yield ("DaemonSet", namespace_of(daemon_set), name_of(daemon_set))

    def reconcile(self, key: Hashable) -> Result:
        """Bring one workload to its spec; try again when a write is refused."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        owner = self._tools.view.get(kind, name, namespace)
        if owner is None or is_terminating(owner):
            return DONE
        self._adoption.claim(owner, "ReplicaSet" if kind == "Deployment" else "Pod")
        return self._kinds[kind].reconcile(owner)


def _is_like(node: Object, old: Object) -> bool:
    """Return whether a node is as it was for DaemonSets (daemon_controller.go, shouldIgnoreNodeUpdate)."""
    return labels_of(node) == labels_of(old) and (spec_of(node).get("taints") or ()) == (
        spec_of(old).get("taints") or ()
    )
