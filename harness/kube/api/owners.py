"""The workload that made a pod, under the name that people know: its Deployment, Job or StatefulSet."""

from __future__ import annotations

from harness.kube.api.objects import Key, Object, controller_of, labels_of, name_of, namespace_of
from lazyrecords import dataclass

__all__ = ["Workload", "workload_of"]


@dataclass(frozen=True, slots=True, order=True)
class Workload:
    """The workload that made a pod; the pod itself when none did."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Deployment/web`, with its namespace where that is not `default`."""
        return Key(self.kind, self.namespace, self.name).reference


def workload_of(pod: Object) -> Workload:
    """Return the workload that made a pod.

    A ReplicaSet's pod belongs to its Deployment, whose name the `pod-template-hash` shows if need be.
    """
    namespace = namespace_of(pod) or "default"
    owner = controller_of(pod)
    if owner is None:
        return Workload("Pod", namespace, name_of(pod))
    kind, name = str(owner["kind"]), str(owner["name"])
    suffix = f"-{labels_of(pod).get('pod-template-hash')}"
    if kind == "ReplicaSet" and name.endswith(suffix):
        kind, name = "Deployment", name.removesuffix(suffix)
    return Workload(kind, namespace, name)
