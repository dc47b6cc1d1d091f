"""The number of pods that a PodDisruptionBudget can spare, as a pure function of objects.

A percentage, and maxUnavailable as a number, refer to the pods that the pods' controllers want, not to the present
ones. So pods without a controller are never spared, and none is where one belongs to a controller that cannot be
scaled.

Source: kubernetes 1.36 pkg/controller/disruption/disruption.go (getExpectedPodCount, getExpectedScale,
countHealthyPods, updatePdbStatus).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.kube.api.amounts import share
from harness.kube.api.objects import (
    Object,
    condition_is,
    controller_of,
    is_terminating,
    metadata_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.scheduling.pods import is_active

__all__ = ["Getter", "budget_status"]

Getter = Callable[[str, str, str], Object | None]
"""An object by kind, name and namespace."""

_WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "Node"})
_KNOWN = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "Deployment"})


def budget_status(budget: Object, pods: Sequence[Object], get: Getter) -> Mapping[str, int] | None:
    """The status that the disruption controller of kube-controller-manager writes; None where it reports an error instead.

    `pods` are all that the budget selects, ended ones too. A workload that does not exist, as in a dump of a part of a cluster, counts with
    the number of its pods as its scale.
    """
    spec = spec_of(budget)
    expected = desired = 0
    if spec.get("maxUnavailable") is not None:
        scale = _scale(pods, get)
        if scale is None:
            return None
        expected, desired = scale, max(0, scale - share(spec["maxUnavailable"], scale, up=True))
    elif isinstance(spec.get("minAvailable"), int):
        expected, desired = len(pods), spec["minAvailable"]
    elif spec.get("minAvailable") is not None:
        scale = _scale(pods, get)
        if scale is None:
            return None
        expected, desired = scale, share(spec["minAvailable"], scale, up=True)
    healthy = sum(condition_is(pod, "Ready") and not is_terminating(pod) for pod in pods)
    return {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if expected > 0 else 0,
        "expectedPods": expected,
        "observedGeneration": int(metadata_of(budget)["generation"]),
    }


def _scale(pods: Sequence[Object], get: Getter) -> int | None:
    """The sum of `spec.replicas` over all controllers of the pods; None where one has no scale subresource."""
    scales: dict[str, int] = {}
    seen: set[str] = set()
    for pod in pods:
        reference = controller_of(pod)
        if reference is None or reference["uid"] in seen:
            continue
        seen.add(reference["uid"])
        if reference["kind"] in _WITHOUT_SCALE:
            return None
        owner = _controller(reference, namespace_of(pod), get)
        if owner is None:
            scales[reference["uid"]] = sum(_is_there(pod, reference) for pod in pods)
        else:
            scales[uid_of(owner)] = int(spec_of(owner).get("replicas", 1))
    return sum(scales.values())


def _controller(reference: Mapping[str, Any], namespace: str, get: Getter) -> Object | None:
    """The workload that is scaled: for a ReplicaSet its Deployment, where it has one."""
    if reference["kind"] not in _KNOWN:
        return None
    owner = get(reference["kind"], reference["name"], namespace)
    if owner is None or uid_of(owner) != reference["uid"]:
        return None
    above = controller_of(owner)
    return owner if above is None else _controller(above, namespace, get) or owner


def _is_there(pod: Object, reference: Mapping[str, Any]) -> bool:
    own = controller_of(pod)
    return own is not None and own["uid"] == reference["uid"] and is_active(pod)
