"""Predicates of pods as the autoscaler has them.

Sources: autoscaler utils/pod/pod.go, utils/drain/drain.go, core/utils/expendable.go, utils/daemonset/daemonset.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.clock import SECOND, parse
from harness.kube.api.objects import Object, annotations_of, controller_of, metadata_of, spec_of, status_of

__all__ = [
    "created",
    "ends_too_long",
    "evictable_daemons",
    "grace_seconds",
    "has_ended",
    "is_daemon_set_pod",
    "is_expendable",
    "is_mirror_pod",
    "is_recreatable",
]

_DAEMON_SET_POD = "cluster-autoscaler.kubernetes.io/daemonset-pod"
_DS_EVICTION = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
_CONFIG_MIRROR = "kubernetes.io/config.mirror"
_CONFIG_SOURCE = "kubernetes.io/config.source"
_GRACE_SECONDS = 30
_EXTRA_SECONDS = 30


def is_daemon_set_pod(pod: Object) -> bool:
    """Return whether a DaemonSet controls the pod, or an annotation says so (IsDaemonSetPod)."""
    controller = controller_of(pod)
    if controller is not None and controller.get("kind") == "DaemonSet":
        return True
    return annotations_of(pod).get(_DAEMON_SET_POD) == "true"


def is_mirror_pod(pod: Object) -> bool:
    """Return whether a kubelet shows a static pod by it (IsMirrorPod)."""
    return _CONFIG_MIRROR in annotations_of(pod)


def is_recreatable(pod: Object) -> bool:
    """Return whether the pod comes again elsewhere when it is evicted (FilterRecreatablePods)."""
    source = annotations_of(pod).get(_CONFIG_SOURCE)
    return not ((source is not None and source != "api") or is_mirror_pod(pod) or is_daemon_set_pod(pod))


def is_expendable(pod: Object, cutoff: int) -> bool:
    """Return whether the pod's priority is so low that it counts for nothing (IsExpendablePod)."""
    priority = spec_of(pod).get("priority")
    return priority is not None and int(priority) < cutoff


def has_ended(pod: Object) -> bool:
    """Return whether the pod will not run again (IsPodTerminal)."""
    phase, policy = status_of(pod).get("phase"), spec_of(pod).get("restartPolicy")
    if policy == "Never" and phase == "Succeeded":
        return True
    return phase == "Failed" or (policy == "OnFailure" and phase == "Succeeded")


def ends_too_long(pod: Object, now: int) -> bool:
    """Return whether the pod has been terminating for longer than it may (IsPodLongTerminating)."""
    deleted = metadata_of(pod).get("deletionTimestamp")
    if not deleted:
        return False
    return parse(deleted) + (grace_seconds(pod) + _EXTRA_SECONDS) * SECOND < now


def grace_seconds(pod: Object) -> int:
    """Return the seconds that the pod has to end; 30 where it says nothing (apiv1.DefaultTerminationGracePeriodSeconds)."""
    grace = spec_of(pod).get("terminationGracePeriodSeconds")
    return _GRACE_SECONDS if grace is None else int(grace)


def created(pod: Object) -> int:
    """Return the moment of a pod's creation, in nanoseconds since the epoch of the clock; 0 where none is written."""
    text = metadata_of(pod).get("creationTimestamp")
    return parse(text) if text else 0


def evictable_daemons(pods: Sequence[Object], *, by_default: bool) -> list[Object]:
    """Return the pods of DaemonSets that are evicted when their node goes (daemonset.PodsToEvict)."""
    return [
        pod
        for pod in pods
        if (annotations_of(pod)[_DS_EVICTION] == "true" if _DS_EVICTION in annotations_of(pod) else by_default)
    ]
