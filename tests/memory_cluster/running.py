"""Pods that run without machines: one node, and a kubelet that starts and ends pods in a second each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import condition_is, is_terminating, name_of, namespace_of, spec_of, uid_of
from harness.testing import node
from tests.memory_cluster.conftest import Cluster

BROKEN = "example.com/never-ready"
"""A label of pods that run and are never ready."""


class Kubelet:
    """Runs every pod that has a node. What it sees is in `counts`: how many pods there were and how many were ready, at every change."""

    name = "kubelet"
    backoff = (1.0, 1.0)

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._due: dict[tuple[str, bool], float] = {}
        self.counts: list[tuple[int, int]] = []

    def watches(self) -> Mapping[str, Router]:
        return {"Pod": self._keys}

    def _keys(self, change: Change) -> Iterable[Hashable]:
        pods = [pod for pod in self._cluster.view.list("Pod") if not is_terminating(pod)]
        self.counts.append((len(pods), sum(condition_is(pod, "Ready") for pod in pods)))
        if change.type is not ChangeType.DELETED and spec_of(change.object).get("nodeName"):
            yield (namespace_of(change.object), name_of(change.object))

    def reconcile(self, key: Hashable) -> Result:
        assert isinstance(key, tuple)
        namespace, name = key
        pod = self._cluster.view.get("Pod", name, namespace)
        if pod is None:
            return DONE
        ending, now = is_terminating(pod), self._cluster.engine.clock.seconds
        if pod["status"]["phase"] == "Running" and not ending:
            return DONE
        due = self._due.setdefault((uid_of(pod), ending), now + 1.0)
        if now < due:
            return Result(due - now)
        if ending:
            self._cluster.admin.delete("Pod", name, namespace=namespace, grace_period_seconds=0)
        else:
            since = self._cluster.engine.clock.timestamp()
            broken = BROKEN in pod["metadata"]["labels"]
            ready = {"type": "Ready", "status": "False" if broken else "True", "lastTransitionTime": since}
            status = {"status": {"phase": "Running", "conditions": [ready]}}
            self._cluster.admin.patch("Pod", name, status, namespace=namespace, subresource="status")
        return DONE


def run_pods(cluster: Cluster) -> Kubelet:
    """Lets the pods of a cluster run from now on."""
    kubelet = Kubelet(cluster)
    cluster.engine.add_controllers(kubelet)
    cluster.admin.create(node("n", cpu="1000", memory="1000Gi"))
    return kubelet
