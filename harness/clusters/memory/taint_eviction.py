"""Taint eviction of kube-controller-manager: pods that do not tolerate a NoExecute taint of their Node, or no longer
tolerate it.

Source: kubernetes 1.36 pkg/controller/tainteviction/taint_eviction.go (processPodOnNode, addConditionAndDeletePod).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, View, Writer
from harness.kube.api.objects import Object, is_terminating, name_of, namespace_of, spec_of, status_of, uid_of
from harness.kube.api.status import ignoring
from harness.kube.scheduling.taints import NO_EXECUTE, tolerates

__all__ = ["TaintEviction"]


class TaintEviction:
    """Deletes pods that do not tolerate a NoExecute taint of their node; a key is (namespace, name) of a pod."""

    name = "taint-eviction-controller"
    backoff = (0.01, 1000.0)

    def __init__(self, view: View, writer: Writer, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock
        self._due: dict[Hashable, tuple[str, int]] = {}
        """Pods whose time runs: uid, and the end of the time. Once set it stays, whatever tolerations or taints are added."""

    def watches(self) -> Mapping[str, Router]:
        """Watch Nodes for the sake of their pods, and pods that are on one."""
        return {"Node": self._of_node, "Pod": self._own}

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        if change.type is not ChangeType.DELETED and (self._due or _driving(change.object)):
            for pod in self._view.indexed("pods-by-node", name_of(change.object)):
                yield (namespace_of(pod), name_of(pod))

    def _own(self, change: Change) -> Iterable[Hashable]:
        node = spec_of(change.object).get("nodeName")
        if not node or not _driving(self._view.get("Node", node)):
            return ()
        return ((namespace_of(change.object), name_of(change.object)),)

    def reconcile(self, key: Hashable) -> Result:
        """Delete one pod, set its time, or let it be."""
        assert isinstance(key, tuple)
        namespace, name = key
        pod = self._view.get("Pod", name, namespace)
        node = None if pod is None else self._view.get("Node", spec_of(pod).get("nodeName") or "")
        driving = _driving(node)
        if pod is None or is_terminating(pod) or not driving:
            self._due.pop(key, None)
            return DONE
        seconds = _tolerated_for(driving, spec_of(pod).get("tolerations") or ())
        if seconds is None:
            self._due.pop(key, None)
            return DONE
        uid, due = self._due.get(key, ("", 0))
        if uid != uid_of(pod) or not seconds:
            due = self._clock.now + seconds * SECOND
        if due > self._clock.now:
            self._due[key] = (uid_of(pod), due)
            return Result((due - self._clock.now) / SECOND, Wait.ALARM)
        self._due.pop(key, None)
        self._drive_out(pod)
        return DONE

    def _drive_out(self, pod: Object) -> None:
        target = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": self._clock.timestamp(),
        }
        conditions = [
            condition for condition in status_of(pod).get("conditions") or () if condition.get("type") != target["type"]
        ]
        status = {"status": {"conditions": [*conditions, target]}}
        name, namespace = name_of(pod), namespace_of(pod)
        with ignoring(404, 409):
            self._writer.patch("Pod", name, status, namespace=namespace, subresource="status")
            self._writer.delete("Pod", name, namespace=namespace, uid=uid_of(pod))


def _driving(node: Object | None) -> Sequence[Mapping[str, Any]]:
    if node is None:
        return ()
    taints = spec_of(node).get("taints")
    return [taint for taint in taints if taint.get("effect") == NO_EXECUTE] if taints else ()


def _tolerated_for(taints: Sequence[Mapping[str, Any]], tolerations: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the seconds for which the pod stays: the least that the first toleration of each taint allows, 0 without
    one; None is for ever."""
    allowed: list[int] = []
    for taint in taints:
        used = next((toleration for toleration in tolerations if tolerates(toleration, taint)), None)
        if used is None:
            return 0
        if used.get("tolerationSeconds") is not None:
            allowed.append(max(0, used["tolerationSeconds"]))
    return min(allowed, default=None)
