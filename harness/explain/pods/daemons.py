"""DaemonSets that run on a Node although Karpenter did not count them when it chose the Node's size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.sizes.fit import asked_by
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.requirements import Requirements
from harness.kube.api.objects import labels_of, name_of, namespace_of, owners_of, short_name, spec_of
from harness.kube.api.resources import ResourceList
from harness.kube.scheduling.pods import is_active, requests_for_pods
from harness.world import World

__all__ = ["uncounted_daemons"]

_COUNTED = ("cpu", "memory")


def uncounted_daemons(world: World, node: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each: its pods ask for a label that the Node has and its NodePool does not name.

    Core counts the DaemonSets whose pods are compatible with the NodePool's own requirements and labels, well-known keys apart
    (kcore pkg/controllers/provisioning/scheduling/scheduler.go, isDaemonPodCompatible).
    """
    name = labels_of(node).get(NODEPOOL)
    pool = world.get("NodePool", name) if name else None
    if pool is None:
        return
    vocabulary = world.release.vocabulary
    requirements = asked_by(pool, vocabulary)
    running: dict[tuple[str, str], Mapping[str, Any]] = {}
    for pod in world.list("Pod"):
        if spec_of(pod).get("nodeName") == name_of(node) and is_active(pod):
            for owner in owners_of(pod):
                if owner.get("kind") == "DaemonSet":
                    running[(namespace_of(pod), str(owner["name"]))] = pod
    for daemonset in world.list("DaemonSet"):
        daemon = running.get((namespace_of(daemonset), name_of(daemonset)))
        if daemon is None:
            continue
        wanted = Requirements.from_pod(spec_of(daemonset).get("template") or {}, vocabulary=vocabulary, strict=True)
        cause = requirements.compatible(wanted, vocabulary.well_known)
        if cause is not None:
            yield (
                f"DaemonSet/{short_name(daemonset)} runs on Node {name_of(node)}, too ({_told(daemon)}), and "
                f"Karpenter did not count it when it chose the size, since NodePool {name} says nothing of what it asks for: {cause}"
            )


def _told(pod: Mapping[str, Any]) -> str:
    requests: ResourceList = requests_for_pods([pod])
    return (
        ", ".join(
            f"{requests[resource]} {resource}"
            for resource in _COUNTED
            if resource in requests and not requests[resource].is_zero()
        )
        or "no requests"
    )
