"""Pods of one controller that are alike for the scheduler, so that one stands for all.

Sources: autoscaler core/scaleup/equivalence/groups.go, utils/utils.go (PodSpecSemanticallyEqual).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clusterautoscaler.pods import is_daemon_set_pod
from harness.kube.api.objects import Object, controller_of, labels_of, spec_of

__all__ = ["PodGroup", "pod_groups"]

_MOST_GROUPS_OF_CONTROLLER = 10

PodGroup = Sequence[Object]
"""Pods that are alike; the first stands for all."""

_Likeness = tuple[Mapping[str, str], Mapping[str, Any]]
"""A pod's labels and the part of its spec that schedulers look at."""


def pod_groups(pods: Sequence[Object]) -> list[PodGroup]:
    """Return the pods in groups, in the order in which the first of each comes."""
    groups: list[list[Object]] = []
    by_controller: dict[str, list[tuple[_Likeness, list[Object]]]] = {}
    for pod in pods:
        controller = controller_of(pod)
        if controller is None or is_daemon_set_pod(pod):
            groups.append([pod])
            continue
        siblings = by_controller.setdefault(str(controller.get("uid")), [])
        likeness = labels_of(pod), _relevant(spec_of(pod))
        alike = next((group for other, group in siblings if other == likeness), None)
        if alike is not None:
            alike.append(pod)
            continue
        groups.append([pod])
        if len(siblings) < _MOST_GROUPS_OF_CONTROLLER:
            siblings.append((likeness, groups[-1]))
    return list(groups)


def _relevant(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a spec without what no scheduler looks at: projected volumes and their mounts, the host name, environments."""
    volumes = spec.get("volumes") or ()
    projected = {volume.get("name") for volume in volumes if volume.get("projected") is not None}
    relevant = {key: value for key, value in spec.items() if key not in ("hostname", "volumes")}
    relevant["volumes"] = [volume for volume in volumes if volume.get("projected") is None]
    for kind in ("containers", "initContainers"):
        relevant[kind] = [_without_mounts(container, projected) for container in spec.get(kind) or ()]
    return relevant


def _without_mounts(container: Mapping[str, Any], projected: set[Any]) -> Mapping[str, Any]:
    rest = {key: value for key, value in container.items() if key not in ("env", "volumeMounts")}
    mounts = container.get("volumeMounts") or ()
    return {**rest, "volumeMounts": [mount for mount in mounts if mount.get("name") not in projected]}
