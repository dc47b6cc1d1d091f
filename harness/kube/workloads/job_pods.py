"""The pods that a Job makes and removes while it goes on.

Source: kubernetes pkg/controller/job/job_controller.go (manageJob).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from harness.kube.api.objects import Object, metadata_of, name_of, spec_of, with_metadata
from harness.kube.deletion_order import in_deletion_order
from harness.kube.workloads.job_failures import (
    Backoff,
    absolute_failures,
    failure_annotations,
    finished_time,
    replaces_failed_only,
    seconds_left,
)
from harness.kube.workloads.job_indexes import index_of, pending_indexes, repeated, with_index
from harness.kube.workloads.templates import pod_from_template
from lazyrecords import dataclass

__all__ = ["FINALIZER", "Moves", "Standing", "is_indexed", "job_pods"]

FINALIZER = "batch.kubernetes.io/job-tracking"
_MOST_AT_ONCE = 500  # pods that are made or deleted at a time (MaxPodCreateDeletePerSync)
_SHORTEST_WAIT = 1.0  # seconds (SyncJobBatchPeriod)


@dataclass(frozen=True, slots=True)
class Standing:
    """A Job and its pods as they stand: `active` ones neither end nor have ended, `terminating` ones end.

    `failed_indexes`: None where indexes do not fail by themselves. `delayed`: of such indexes, the last failed pod, whose successor is
    yet to come.
    """

    job: Object
    active: Sequence[Object]
    terminating: Sequence[Object]
    succeeded: int
    succeeded_indexes: set[int]
    failed_indexes: set[int] | None
    delayed: Mapping[int, Object]
    backoff: Backoff
    now: datetime


@dataclass(frozen=True, slots=True)
class Moves:
    """Pods to make, pods to delete that do not count, and the seconds until the next pod may come."""

    create: tuple[Object, ...] = ()
    retire: tuple[Object, ...] = ()
    wait: float | None = None


def is_indexed(job: Object) -> bool:
    """Return whether each pod of a Job stands for an index."""
    return spec_of(job).get("completionMode") == "Indexed"


def job_pods(standing: Standing) -> Moves:
    """Return the pods that are missing, or those that are too many."""
    spec, active = spec_of(standing.job), len(standing.active)
    if spec.get("suspend"):
        return Moves(retire=tuple(_for_removal(standing, active)))
    parallelism, completions = int(spec["parallelism"]), spec.get("completions")
    if completions is None:
        wanted = active if standing.succeeded else parallelism
    else:
        wanted = max(0, min(int(completions) - standing.succeeded, parallelism))
    surplus = _for_removal(standing, max(0, active - wanted))[:_MOST_AT_ONCE]
    if surplus:
        return Moves(retire=tuple(surplus))
    ending = len(standing.terminating) if replaces_failed_only(standing.job) else 0
    missing = wanted - ending - active
    if missing <= 0:
        return Moves()
    if standing.failed_indexes is None:
        left = seconds_left(standing.backoff.failures, standing.backoff.latest, standing.now)
        if left > 0:
            return Moves(wait=max(_SHORTEST_WAIT, left))
    return _made(standing, min(missing, _MOST_AT_ONCE))


def _for_removal(standing: Standing, least: int) -> list[Object]:
    def in_order(pods: Sequence[Object]) -> list[Object]:
        return in_deletion_order(pods, (), standing.now)

    surplus: list[Object] = []
    left: Sequence[Object] = standing.active
    if is_indexed(standing.job):
        surplus, left = repeated(left, int(spec_of(standing.job)["completions"]), in_order)
    missing = least - len(surplus)
    return surplus + in_order(left)[:missing] if missing > 0 else surplus


def _made(standing: Standing, count: int) -> Moves:
    job = standing.job
    pod = _tracked_pod(job)
    if not is_indexed(job):
        return Moves(create=(pod,) * count)
    failed = standing.failed_indexes
    others = [*standing.active, *(standing.terminating if replaces_failed_only(job) else ())]
    taken = {*standing.succeeded_indexes, *(failed or ()), *(index_of(other) for other in others)}
    indexes = pending_indexes(count, int(spec_of(job)["completions"]), taken)
    if failed is None:
        return Moves(create=tuple(with_index(pod, name_of(job), index, {}) for index in indexes))
    waits = {index: _seconds_left_of(standing, index) for index in indexes}
    due = [index for index in indexes if waits[index] <= 0]
    if waits and not due:
        return Moves(wait=max(_SHORTEST_WAIT, min(waits.values())))
    made = (
        with_index(pod, name_of(job), index, failure_annotations(job, standing.delayed.get(index))) for index in due
    )
    return Moves(create=tuple(made))


def _tracked_pod(job: Object) -> Mapping[str, Any]:
    """Return a pod of a Job, which stays until it is counted."""
    template = spec_of(job).get("template") or {}
    pod = pod_from_template(job, template)
    finalizers = dict.fromkeys([*(metadata_of(template).get("finalizers") or ()), FINALIZER])
    return with_metadata(pod, finalizers=list(finalizers))


def _seconds_left_of(standing: Standing, index: int) -> float:
    last = standing.delayed.get(index)
    return 0.0 if last is None else seconds_left(absolute_failures(last) + 1, finished_time(last), standing.now)
