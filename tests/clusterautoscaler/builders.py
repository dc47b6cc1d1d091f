"""Nodes, pods and groups in the amounts of the autoscaler's own tests: thousandths of a cpu, bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.kube.api.objects import Object

ZONE = "topology.kubernetes.io/zone"


def a_node(
    name: str,
    cpu: int = 1000,
    memory: int = 10,
    *,
    pods: int = 110,
    zone: str = "",
    ready: bool = True,
    created: str = "2026-01-01T00:00:00Z",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
    **amounts: str,
) -> dict[str, Any]:
    """A node that is ready since long ago; `amounts` are other resources."""
    resources = {"cpu": f"{cpu}m", "memory": str(memory), "pods": str(pods), **amounts}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": created,
            "labels": {"kubernetes.io/hostname": name, **({ZONE: zone} if zone else {}), **(labels or {})},
            "annotations": dict(annotations or {}),
        },
        "spec": {"taints": list(taints)},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": created}],
        },
    }


def a_pod(
    name: str,
    cpu: int | None = None,
    memory: int | None = None,
    *,
    namespace: str = "default",
    owner: tuple[str, str, str] | None = ("ReplicaSet", "rs", "apps/v1"),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    deleted: str = "",
    created: str = "",
    phase: str = "Running",
    **spec: Any,
) -> dict[str, Any]:
    """A pod with one container; other keywords are fields of its spec."""
    requests = {
        **({"cpu": f"{cpu}m"} if cpu is not None else {}),
        **({"memory": str(memory)} if memory is not None else {}),
    }
    metadata: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "namespace": namespace}
    metadata |= {"labels": dict(labels or {}), "annotations": dict(annotations or {})}
    if owner is not None:
        kind, owner_name, version = owner
        reference = {"kind": kind, "name": owner_name, "apiVersion": version, "uid": f"uid-{owner_name}"}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    metadata |= {"deletionTimestamp": deleted} if deleted else {}
    metadata |= {"creationTimestamp": created} if created else {}
    container = {"name": "main", "image": "image", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
        "status": {"phase": phase},
    }


def alike(count: int, name: str, cpu: int, memory: int, **others: Any) -> list[dict[str, Any]]:
    """So many pods that differ in their names only."""
    return [a_pod(f"{name}-{number}", cpu, memory, **others) for number in range(count)]


def a_group(name: str, target: int = 1, minimum: int = 0, maximum: int = 10) -> NodeGroup:
    """A group of nodes."""
    return NodeGroup(name, minimum, maximum, target)


def a_budget(allowed: int, namespace: str = "default", **labels: str) -> dict[str, Any]:
    """A PodDisruptionBudget that still allows so many disruptions."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget", "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }
