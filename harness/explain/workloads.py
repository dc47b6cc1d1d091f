"""Pods under the names that people know: the Deployment, Job or StatefulSet that made them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Object, controller_of, labels_of, name_of, namespace_of, spec_of

__all__ = ["Workload", "named_pods", "wish_of", "workload_of"]


@dataclass(frozen=True, slots=True, order=True)
class Workload:
    """What made a pod; the pod itself when nothing did."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Deployment/web`, with its namespace where that is not `default`."""
        place = "" if self.namespace in ("", "default") else f"{self.namespace}/"
        return f"{self.kind}/{place}{self.name}"


def workload_of(pod: Object) -> Workload:
    """What made a pod. A ReplicaSet is its Deployment's, as the pods' `pod-template-hash` tells also where neither is given."""
    namespace = namespace_of(pod) or "default"
    owner = controller_of(pod)
    if owner is None:
        return Workload("Pod", namespace, name_of(pod))
    kind, name = str(owner["kind"]), str(owner["name"])
    suffix = f"-{labels_of(pod).get('pod-template-hash')}"
    if kind == "ReplicaSet" and name.endswith(suffix):
        kind, name = "Deployment", name.removesuffix(suffix)
    return Workload(kind, namespace, name)


def wish_of(pod: Object) -> Hashable | None:
    """What a pod asks of its Node, but for resources: pods with the same wish are refused for the same.

    None for a pod that looks at others, or at volumes.
    """
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    ports = [port for one in spec.get("containers") or () for port in one.get("ports") or () if port.get("hostPort")]
    others = [affinity.get("podAffinity"), affinity.get("podAntiAffinity"), spec.get("topologySpreadConstraints")]
    if any(others) or ports or spec.get("volumes") or spec.get("resourceClaims"):
        return None
    asked = [spec.get("nodeSelector"), affinity.get("nodeAffinity"), spec.get("tolerations")]
    return fingerprint([namespace_of(pod), *asked])


def named_pods(reference: str, pods: Iterable[Object]) -> list[Object]:
    """The pods that a user means: `web`, `shop/web`, `Deployment/web`, `Deployment/shop/web`; kinds in any case, `pod/web` too."""
    head, _, rest = reference.partition("/")
    found: list[Object] = []
    for pod in pods:
        workload = workload_of(pod)
        place = namespace_of(pod) or "default"
        plain = {name_of(pod), f"{place}/{name_of(pod)}"} if place == "default" else {f"{place}/{name_of(pod)}"}
        made = {workload.name, f"{place}/{workload.name}"} if place == "default" else {f"{place}/{workload.name}"}
        if (
            reference in plain
            or (head.lower() == "pod" and rest in plain)
            or (head.lower() == workload.kind.lower() and rest in made)
        ):
            found.append(pod)
    return found
