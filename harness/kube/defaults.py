"""What the API server fills in or adds when core objects are created, as far as anything here reads it.

Sources: kubernetes pkg/apis/core/v1/defaults.go, plugin/pkg/admission/{defaulttolerationseconds,nodetaint,priority}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"

_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def default_pod(pod: dict[str, Any], priority_of: Callable[[str], int | None]) -> dict[str, Any]:
    """A pod as the API server stores it: defaulted spec, added tolerations, priority, phase Pending."""
    spec: dict[str, Any] = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        **(pod.get("spec") or {}),
    }
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_default_container(each) for each in spec[field]]
    tolerations = list(spec.get("tolerations") or ())
    for key in (NOT_READY, UNREACHABLE):
        if not any(_covers_no_execute(each, key) for each in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    spec["tolerations"] = tolerations
    if "priority" not in spec:
        name = spec.get("priorityClassName")
        spec["priority"] = 0 if not name else _SYSTEM_PRIORITIES.get(name, priority_of(name) or 0)
    return {**pod, "spec": spec, "status": {"phase": "Pending"}}


def _default_container(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Limits stand in for missing requests."""
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    requests = resources.get("requests") or {}
    missing = {name: value for name, value in limits.items() if name not in requests}
    if not missing:
        return container
    return {**container, "resources": {**resources, "requests": {**requests, **missing}}}


def _covers_no_execute(toleration: Mapping[str, Any], key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")


def default_node(node: dict[str, Any]) -> dict[str, Any]:
    """A node as the API server stores it: with the taint that keeps pods away until it is ready."""
    spec = node.get("spec") or {}
    taints = spec.get("taints") or []
    taint = {"key": NOT_READY, "effect": "NoSchedule"}
    if any(each.get("key") == NOT_READY and each.get("effect") == "NoSchedule" for each in taints):
        return node
    return {**node, "spec": {**spec, "taints": [*taints, taint]}}


def default_workload(obj: dict[str, Any]) -> dict[str, Any]:
    """A workload as the API server stores it: one replica unless told otherwise."""
    spec = obj.get("spec") or {}
    if obj["kind"] in ("Deployment", "ReplicaSet", "StatefulSet") and spec.get("replicas") is None:
        return {**obj, "spec": {**spec, "replicas": 1}}
    if obj["kind"] == "Job":
        return {**obj, "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 6, **spec}}
    return obj
