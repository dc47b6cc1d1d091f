"""The pods for which the cluster may have to grow.

Sources: autoscaler core/podlistprocessor/*.go, core/static_autoscaler.go (filterOutYoungPods, allPodsAreNew),
utils/kubernetes/listers.go (ArrangePodsBySchedulability).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.clusterautoscaler.gpus import GPU
from harness.clusterautoscaler.pods import created, is_daemon_set_pod, is_expendable
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.removal import Hints, place_pods
from harness.clusterautoscaler.snapshot import Snapshot
from harness.engine.clock import SECOND, nanoseconds
from harness.kube.api.objects import Object, annotations_of, condition, is_terminating, spec_of, status_of
from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.go.sort import sort_slice
from harness.kube.scheduling.placement import priority_of
from harness.kube.scheduling.pods import pod_requests

__all__ = ["are_all_new", "is_unschedulable", "old_enough", "to_help"]

_DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
_NEW_SECONDS = 2
_NEW_WITH_GPU_SECONDS = 30


def is_unschedulable(pod: Object) -> bool:
    """Return whether the scheduler has refused a pod and waits for nothing."""
    if spec_of(pod).get("nodeName") or is_terminating(pod) or status_of(pod).get("nominatedNodeName"):
        return False
    scheduled = condition(pod, "PodScheduled")
    return scheduled is not None and scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"


def to_help(
    unschedulable: Sequence[Object], evicted: Iterable[Object], snapshot: Snapshot, hints: Hints, profile: Profile
) -> list[Object]:
    """Return the pods that fit nowhere, those that are `evicted` soon among them; the others get a place in the snapshot.

    Source: autoscaler core/podlistprocessor/pod_list_processor.go (the order of its parts).
    """
    counting = [pod for pod in unschedulable if not is_expendable(pod, profile.expendable_pods_priority_cutoff)]
    pods = [*counting, *evicted]
    sort_slice(pods, lambda pod: -priority_of(pod))
    placed = {id(pod) for pod in place_pods(pods, snapshot, snapshot.nodes, hints)}
    hints.turn()
    return [pod for pod in pods if id(pod) not in placed and not is_daemon_set_pod(pod)]


def old_enough(pods: Iterable[Object], now: int, profile: Profile) -> list[Object]:
    """Return the pods that are older than they have to be (filterOutYoungPods)."""
    return [pod for pod in pods if now - created(pod) > _delay(pod, profile)]


def are_all_new(pods: Sequence[Object], now: int) -> bool:
    """Return whether more pods will probably come: the oldest is 2 s old at most, or 30 s where it wants a GPU (allPodsAreNew)."""
    if min(map(created, pods), default=now) + _NEW_SECONDS * SECOND > now:
        return True
    with_gpu = [created(pod) for pod in pods if GPU in pod_requests(pod)]
    return bool(with_gpu) and min(with_gpu) + _NEW_WITH_GPU_SECONDS * SECOND > now


def _delay(pod: Object, profile: Profile) -> int:
    usual = nanoseconds(profile.new_pod_scale_up_delay)
    text = annotations_of(pod).get(_DELAY)
    if text is None:
        return usual
    try:
        return max(usual, parse_duration(text))
    except DurationError:
        return usual
