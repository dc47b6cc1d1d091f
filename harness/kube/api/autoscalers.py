"""Fields of HorizontalPodAutoscalers: the workload, the metrics, and the rules of a behavior that leaves them out.

Source: kubernetes pkg/apis/autoscaling/v2/defaults.go, pkg/apis/autoscaling/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Key, Object, mapping_in, namespace_of, spec_of

__all__ = ["DOWN", "SCALED", "UP", "WINDOW_FIELD", "WINDOW_SECONDS", "metrics_of", "target_of"]

SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
"""The kinds with a scale subresource that are simulated."""
WINDOW_FIELD = "stabilizationWindowSeconds"
WINDOW_SECONDS = 300
"""The stabilization before pods are taken away (--horizontal-pod-autoscaler-downscale-stabilization)."""
UP: Mapping[str, Any] = {
    WINDOW_FIELD: 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
DOWN: Mapping[str, Any] = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}
"""Rules that stand in for those that a behavior leaves out; the window downwards is the controller's."""
_CPU_TARGET = 80
"""Percent, where no metric is named."""


def target_of(autoscaler: Object) -> Key | None:
    """Return the workload that it refers to, None where the reference has no kind or name; also of an object not judged yet."""
    reference = mapping_in(mapping_in(autoscaler.get("spec")).get("scaleTargetRef"))
    kind, name = reference.get("kind"), reference.get("name")
    if not isinstance(kind, str) or not isinstance(name, str):
        return None
    return Key(kind, namespace_of(autoscaler) or "default", name)


def metrics_of(autoscaler: Object) -> Sequence[Mapping[str, Any]]:
    """Return the metrics of a spec as autoscaling/v2 has them, also of one that is written as v1."""
    spec = spec_of(autoscaler)
    if spec.get("metrics"):
        metrics: Sequence[Mapping[str, Any]] = spec["metrics"]
        return metrics
    percent = spec.get("targetCPUUtilizationPercentage") or _CPU_TARGET
    target = {"type": "Utilization", "averageUtilization": percent}
    return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
