"""The changes of pods and nodes that make kube-scheduler try unschedulable pods again.

Source: kubernetes pkg/scheduler/framework/events.go and the hints of its plugins.
"""

from __future__ import annotations

from harness.kube.api.objects import Object, is_terminating, labels_of, metadata_of, spec_of, status_of
from harness.kube.scheduling.pods import is_terminal, pod_requests

__all__ = ["looks_at_others", "offers_differently", "takes_less", "waits", "weighs_differently"]


def waits(pod: Object) -> bool:
    """Return whether kube-scheduler is to find a node for the pod."""
    spec = spec_of(pod)
    return (
        not metadata_of(pod).get("deletionTimestamp")
        and not is_terminal(pod)
        and (spec.get("schedulerName") or "default-scheduler") == "default-scheduler"
        and not spec.get("schedulingGates")
    )


def looks_at_others(pod: Object) -> bool:
    """Return whether the places of other pods matter to the pod."""
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    return bool(affinity.get("podAffinity") or affinity.get("podAntiAffinity") or spec.get("topologySpreadConstraints"))


def weighs_differently(pod: Object, old: Object) -> bool:
    """Return whether a pod counts differently on its node than before."""
    spec, before = spec_of(pod), spec_of(old)
    return (
        (spec is not before and spec != before)
        or is_terminal(pod) != is_terminal(old)
        or is_terminating(pod) != is_terminating(old)
        or labels_of(pod) != labels_of(old)
        or (bool(status_of(pod).get("containerStatuses")) and pod_requests(pod) != pod_requests(old))
    )


def takes_less(pod: Object, old: Object) -> bool:
    """Return whether a pod releases some of its resources (kubernetes pkg/scheduler/framework/events.go, extractPodScaleDown)."""
    now = pod_requests(pod)
    return any(name not in now or now[name] < taken for name, taken in pod_requests(old).items())


def offers_differently(node: Object, old: Object) -> bool:
    """Return whether a pod that a node could not take before may fit now."""
    return (
        labels_of(node) != labels_of(old)
        or spec_of(node) != spec_of(old)
        or status_of(node).get("allocatable") != status_of(old).get("allocatable")
    )
