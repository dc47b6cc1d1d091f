"""The metrics API on the real control plane: PodMetrics as custom resources, written as metrics-server would serve them.

kube-controller-manager lists them at the same address and in the same shape. The load is shared as in memory, so what is compared is what
the controller makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.clusters.client.connection import Connection
from harness.clusters.memory.loads import Loads
from harness.clusters.waiting import poll
from harness.engine.clock import EPOCH, SECOND, Clock
from harness.engine.ports import Change, View
from harness.kube.api.autoscalers import SCALED
from harness.kube.api.objects import Key, labels_of, name_of, spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import Version
from harness.kube.workloads.autoscaler_replicas import PodUsage
from harness.world.loads import curves

__all__ = ["MetricsServer"]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "pods.metrics.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in for metrics-server"},
    },
    "spec": {
        "group": "metrics.k8s.io",
        "scope": "Namespaced",
        "names": {"kind": "PodMetrics", "listKind": "PodMetricsList", "plural": "pods", "singular": "pod"},
        "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _SCHEMA}}],
    },
}


class MetricsServer:
    """Writes the usage of the pods whose workloads have a load."""

    def __init__(self, connection: Connection, view: View, kubernetes: str) -> None:
        self._connection = connection
        self._view = view
        self._line = Version.parse(kubernetes).line
        self._clock = Clock(self._now())
        self._loads = Loads(self._clock)
        self._loaded: dict[Key, None] = {}
        self._written: dict[str, dict[str, Any]] = {}
        """Of each namespace: the PodMetrics that are there, by name."""
        self._installed = False

    def hear(self, change: Change) -> None:
        """Keep the first size of a workload."""
        if change.object["kind"] in SCALED:
            self._loads.hear(change)

    def load(self, namespace: str, loads: Mapping[str, Any]) -> None:
        """Give workloads of a namespace this load from now on."""
        self._install()
        self._clock.advance_to(self._now())
        placed = {reference.replace("/", f"/{namespace}/", 1): load for reference, load in loads.items()}
        for workload, curve in curves(placed):
            self._loads.put(workload, curve)
            self._loaded[workload] = None
        self.publish()

    def publish(self) -> None:
        """Write what the pods use at this moment."""
        self._clock.advance_to(self._now())
        for workload in self._loaded:
            target = self._view.get(workload.kind, workload.name, workload.namespace)
            selector = Selector.parse(None if target is None else spec_of(target)["selector"])
            pods = [
                pod for pod in self._view.list("Pod", namespace=workload.namespace) if selector.matches(labels_of(pod))
            ]
            usages = self._loads.usages(workload, pods, self._line)
            self._write(workload.namespace, {name_of(pod): labels_of(pod) for pod in pods}, usages)

    def forget(self) -> None:
        """Serve no metrics any more; the resources go with their namespaces."""
        self._loaded.clear()
        self._written.clear()

    @staticmethod
    def _now() -> int:
        return int((datetime.now(UTC) - EPOCH).total_seconds() * SECOND)

    def _install(self) -> None:
        if self._installed:
            return
        self._connection.request("POST", _CRDS, body=_CRD)
        probe = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
        poll(lambda: self._connection.raw("GET", probe)[0] == 200, "the metrics API to be served", seconds=30)
        self._installed = True

    def _write(self, namespace: str, labels: Mapping[str, Mapping[str, str]], usages: Mapping[str, PodUsage]) -> None:
        path = f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"
        written = self._written.setdefault(namespace, {})
        for name, usage in usages.items():
            value = _metrics(name, labels[name], usage)
            if name in written:
                patch = {key: value[key] for key in ("timestamp", "containers")}
                self._connection.request(
                    "PATCH", f"{path}/{name}", body=patch, content_type="application/merge-patch+json"
                )
            else:
                self._connection.request("POST", path, body=value)
            written[name] = value
        for name in [name for name in written if name not in usages]:
            self._connection.request("DELETE", f"{path}/{name}")
            del written[name]


def _metrics(name: str, labels: Mapping[str, str], usage: PodUsage) -> dict[str, Any]:
    containers = [
        {
            "name": container,
            "usage": {resource: str(Quantity(amount * 1_000_000)) for resource, amount in amounts.items()},
        }
        for container, amounts in usage.containers.items()
    ]
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": {"name": name, "labels": dict(labels)},
        "timestamp": usage.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "window": f"{int(usage.window.total_seconds())}s",
        "containers": containers,
    }
