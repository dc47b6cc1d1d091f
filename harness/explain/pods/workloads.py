"""Pods under the names that people know: the Deployment, Job or StatefulSet that made them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of
from harness.kube.api.owners import workload_of

__all__ = ["named_pods", "wish_of"]


def wish_of(pod: Object) -> Hashable | None:
    """Return a pod's wishes for its Node, but for resources: pods with the same wish are refused for the same.

    None for a pod that looks at others, or at volumes.
    """
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    ports = [
        port
        for container in spec.get("containers") or ()
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]
    others = [affinity.get("podAffinity"), affinity.get("podAntiAffinity"), spec.get("topologySpreadConstraints")]
    if any(others) or ports or spec.get("volumes") or spec.get("resourceClaims"):
        return None
    wishes = [spec.get("nodeSelector"), affinity.get("nodeAffinity"), spec.get("tolerations")]
    return fingerprint([namespace_of(pod), *wishes])


def named_pods(reference: str, pods: Iterable[Object]) -> list[Object]:
    """The pods that a user means: `web`, `shop/web`, `Deployment/web`, `Deployment/shop/web`; kinds in any case, `pod/web` too."""
    head, _, rest = reference.partition("/")
    matching: list[Object] = []
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
            matching.append(pod)
    return matching
