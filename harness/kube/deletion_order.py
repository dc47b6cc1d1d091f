"""The order in which a ReplicaSet deletes pods when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePodsWithRanks), pkg/controller/replicaset/replica_set.go (getPodsToDelete,
getIndirectlyRelatedPods).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cmp_to_key

from harness.kube.api.containers import sidecars_of
from harness.kube.api.objects import Object, annotations_of, condition, metadata_of, spec_of, status_of, uid_of
from harness.kube.go.text import parse_int
from harness.kube.go.times import parse_rfc3339
from lazyrecords import dataclass

__all__ = ["DELETION_COST", "deletion_cost", "in_deletion_order"]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Mapping[str, int] = {"Pending": 0, "Unknown": 1, "Running": 2}
_FIRST = frozenset("-123456789")
_UNKNOWN = -2  # an unknown time, which comes before all known ones


def deletion_cost(annotations: Mapping[str, str]) -> int | None:
    """Return the deletion cost in a pod's annotations, 0 without one; None unless it is an integer of 32 bits without
    plus sign or leading zeros.

    Source: kubernetes pkg/apis/core/helper/helpers.go (GetDeletionCostFromPodAnnotations).
    """
    text = annotations.get(DELETION_COST)
    if text is None or text == "0":
        return 0
    number = parse_int(text) if text[:1] in _FIRST else None
    return number if number is not None and -(1 << 31) <= number < 1 << 31 else None


def in_deletion_order(pods: Sequence[Object], related: Iterable[Object], now: datetime) -> list[Object]:
    """Return the pods of a ReplicaSet in the order of their deletion.

    `related` are the living pods of all ReplicaSets of its Deployment, itself included: a pod goes first where more of
    them stand.
    """
    together = Counter(spec_of(pod).get("nodeName") for pod in related)
    ranked = [_Ranked.for_pod(pod, together[spec_of(pod).get("nodeName")], now) for pod in pods]
    return [entry.pod for entry in sorted(ranked, key=cmp_to_key(_compare))]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A pod with the facts that decide: `standing` first, then for how long it is ready, its restarts, and its age."""

    pod: Object
    standing: tuple[bool, int, bool, int, int]
    ready: str
    ready_doublings: int
    restarts: tuple[int, int]
    age_doublings: int

    @staticmethod
    def for_pod(pod: Object, together: int, now: datetime) -> _Ranked:
        """Rank a pod. `together`: the number of related pods on the pod's node."""
        ready = condition(pod, "Ready")
        is_ready = ready is not None and ready.get("status") == "True"
        since = str(ready.get("lastTransitionTime") or "") if ready is not None and is_ready else ""
        cost = deletion_cost(annotations_of(pod)) or 0
        phase = _PHASES.get(status_of(pod).get("phase", ""), 0)
        standing = bool(spec_of(pod).get("nodeName")), phase, is_ready, cost, -together
        age = _doublings(str(metadata_of(pod).get("creationTimestamp") or ""), now)
        return _Ranked(pod, standing, since, _doublings(since, now), _restarts(pod), age)


def _compare(a: _Ranked, b: _Ranked) -> int:
    """Return a negative number where `a` goes first."""
    if a.standing != b.standing:
        return -1 if a.standing < b.standing else 1
    if a.ready != b.ready:
        return a.ready_doublings - b.ready_doublings or _by_uid(a, b)
    if a.restarts != b.restarts:
        return -1 if a.restarts > b.restarts else 1
    return a.age_doublings - b.age_doublings or _by_uid(a, b)


def _doublings(since: str, now: datetime) -> int:
    """Return how many times a nanosecond doubles until it is the time that has passed since a moment."""
    if not since:
        return _UNKNOWN
    passed = (now - parse_rfc3339(since)) // timedelta(microseconds=1) * 1000
    return passed.bit_length() - 1 if passed > 0 else -1


def _by_uid(a: _Ranked, b: _Ranked) -> int:
    """Return a negative number where the uid of `a` is the smaller one: how upstream draws lots, since uids are random."""
    return -1 if uid_of(a.pod) < uid_of(b.pod) else 1


def _restarts(pod: Object) -> tuple[int, int]:
    """The most restarts of a container, and of a sidecar."""
    status = status_of(pod)
    sidecars = {container.get("name") for container in sidecars_of(pod)}
    own = [int(status.get("restartCount") or 0) for status in status.get("containerStatuses") or ()]
    beside = [
        int(status.get("restartCount") or 0)
        for status in status.get("initContainerStatuses") or ()
        if status.get("name") in sidecars
    ]
    return max(own, default=0), max(beside, default=0)
