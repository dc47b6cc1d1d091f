"""The pods and the status of a Job.

Source: kubernetes pkg/controller/job/job_controller.go (syncJob, trackJobStatusAndRemoveFinalizers). What the status keeps of pods that are
not counted yet is left out: nothing is lost between two writes here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from harness.kube.api.objects import (
    Object,
    condition_is,
    conditions_of,
    finalizers_of,
    is_terminating,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.go.times import parse_rfc3339
from harness.kube.scheduling.pods import is_active, is_terminal
from harness.kube.workloads.job_conditions import (
    final_condition,
    finished_condition,
    job_condition,
    policy_failure,
    replaced_condition,
    restarted_too_often,
    success_by_policy,
    target_reached_before,
)
from harness.kube.workloads.job_failures import (
    Backoff,
    absolute_failures,
    failures_of_index,
    finished_time,
    has_failed,
    match_policy,
)
from harness.kube.workloads.job_indexes import (
    format_indexes,
    index_of,
    parse_indexes,
)
from harness.kube.workloads.job_pods import FINALIZER, Moves, Standing, is_indexed, job_pods
from lazyrecords import dataclass

__all__ = ["JobPlan", "plan_job", "seconds_to_live"]


@dataclass(frozen=True, slots=True)
class JobPlan:
    """The next writes of a Job's controller, in order.

    `retire`: pods to delete that do not count, without their finalizer. `delete`: pods to delete that count. `release`: counted pods, whose
    finalizer goes. `status`: its fields, None for absent ones. `backoff`: the record for the next look. `events`: type, reason and message.
    `wait`: seconds until the next pod may come. `alarm`: until the Job's deadline.
    """

    create: tuple[Object, ...]
    retire: tuple[Object, ...]
    delete: tuple[Object, ...]
    release: tuple[Object, ...]
    status: Mapping[str, Any]
    backoff: Backoff
    events: tuple[tuple[str, str, str], ...]
    wait: float | None = None
    alarm: float | None = None


def plan_job(
    job: Object, pods: Sequence[Object], backoff: Backoff, now: datetime, *, forgets_start: bool = True
) -> JobPlan:
    """Return the writes for a Job that is not over, with the pods that it controls and the failures seen before.

    `forgets_start`: the start of a Job ends with its suspension (MutableSchedulingDirectivesForSuspendedJobs, Kubernetes 1.36).
    """
    return _Sync(job, pods, backoff, now, forgets_start=forgets_start).plan()


def seconds_to_live(job: Object, now: datetime) -> float | None:
    """Return the seconds until a Job that is over is deleted; None when it is not over, or stays.

    Source: kubernetes pkg/controller/ttlafterfinished/ttlafterfinished_controller.go.
    """
    ttl, finished = spec_of(job).get("ttlSecondsAfterFinished"), finished_condition(job)
    if ttl is None or finished is None:
        return None
    return float(ttl) - (now - parse_rfc3339(finished["lastTransitionTime"])).total_seconds()


def _by_index(pod: Object) -> int:
    index = index_of(pod)
    return -1 if index is None else index


class _Sync:
    """One look at a Job. `pods` are those that it controls; `verdict` is what ends the Job, once something does."""

    def __init__(
        self, job: Object, pods: Sequence[Object], backoff: Backoff, now: datetime, *, forgets_start: bool
    ) -> None:
        self._forgets_start = forgets_start
        self._job, self._spec, self._status = job, spec_of(job), status_of(job)
        self._now = now
        self._time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._indexed = is_indexed(job)
        self._completions: int | None = self._spec.get("completions")
        self._pods = sorted(pods, key=_by_index) if self._indexed else list(pods)
        self._active = [pod for pod in self._pods if is_active(pod)]
        self._terminating = [pod for pod in self._pods if is_terminating(pod) and not is_terminal(pod)]
        self._uncounted = [pod for pod in self._pods if FINALIZER in finalizers_of(pod)]
        valid = [pod for pod in self._uncounted if self._is_valid(pod)]
        self._new_succeeded = [pod for pod in valid if status_of(pod).get("phase") == "Succeeded"]
        self._new_failed = [pod for pod in valid if has_failed(pod, job)]
        self._backoff = backoff.after(self._new_succeeded, self._new_failed)
        self._succeeded = int(self._status.get("succeeded") or 0) + len(self._new_succeeded)
        self._start: str | None = self._status.get("startTime")
        self._conditions: list[Object] = list(conditions_of(job))
        self._succeeded_indexes: set[int] = set()
        self._failed_indexes: set[int] | None = None
        self._delayed: dict[int, Object] = {}
        self._moves = Moves()
        self._delete: list[Object] = []
        self._events: list[tuple[str, str, str]] = []
        self._alarm: float | None = None

    @property
    def _suspended(self) -> bool:
        return bool(self._spec.get("suspend"))

    def _is_valid(self, pod: Object) -> bool:
        if not self._indexed:
            return True
        index = index_of(pod)
        return index is not None and index < int(self._completions or 0)

    def plan(self) -> JobPlan:
        """Take the steps of syncJob."""
        if self._start is None and not self._suspended:
            self._start = self._time
        verdict = self._verdict()
        if self._indexed:
            verdict = self._look_at_indexes(verdict)
        if verdict is not None:
            self._delete = self._active
        else:
            is_deleted = is_terminating(self._job)
            if not is_deleted:
                self._moves = job_pods(self._standing)
            verdict = self._completion()
            if verdict is None and not is_deleted:
                self._note_suspension()
        return self._tracked(verdict)

    def _verdict(self) -> Mapping[str, str] | None:
        """Return why the Job ends, apart from its indexes."""
        before = target_reached_before(self._job)
        if before is not None:
            return before
        message = policy_failure(self._job, self._pods)
        if message:
            return self._failure("PodFailurePolicy", message)
        counted = sum(match_policy(self._job, pod).counts for pod in self._new_failed)
        failed = int(self._status.get("failed") or 0) + counted
        if failed > self._spec["backoffLimit"] or restarted_too_often(self._job, self._pods):
            return self._failure("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        deadline = self._spec.get("activeDeadlineSeconds")
        if deadline is not None and not self._suspended and self._start is not None:
            self._alarm = deadline - (self._now - parse_rfc3339(self._start)).total_seconds()
            if self._alarm <= 0:
                return self._failure("DeadlineExceeded", "Job was active longer than specified deadline")
        return None

    def _failure(self, reason: str, message: str) -> Mapping[str, str]:
        return job_condition("FailureTarget", reason, message, self._time)

    def _look_at_indexes(self, verdict: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Count the indexes; return the verdict that follows from them, where there was none."""
        completions = int(self._completions or 0)
        done = parse_indexes(self._status.get("completedIndexes") or "", completions)
        self._succeeded_indexes = done | {index for pod in self._new_succeeded if (index := index_of(pod)) is not None}
        self._succeeded = len(self._succeeded_indexes)
        if self._spec.get("backoffLimitPerIndex") is not None:
            failed = parse_indexes(self._status.get("failedIndexes") or "", completions)
            failed |= {
                index for pod in self._new_failed if self._index_failed(pod) and (index := index_of(pod)) is not None
            }
            self._failed_indexes = failed
            most = self._spec.get("maxFailedIndexes")
            if verdict is None and most is not None and len(failed) > most:
                text = "Job has exceeded the specified maximal number of failed indexes"
                verdict = self._failure("MaxFailedIndexesExceeded", text)
            elif verdict is None and failed and len(failed) + self._succeeded >= completions:
                verdict = self._failure("FailedIndexes", "Job has failed indexes")
            self._delayed = self._awaiting_successors(failed)
        message = success_by_policy(self._job, self._succeeded_indexes) if verdict is None else ""
        return job_condition("SuccessCriteriaMet", "SuccessPolicy", message, self._time) if message else verdict

    def _index_failed(self, pod: Object) -> bool:
        match = match_policy(self._job, pod)
        if match.action == "FailIndex":
            return True
        return match.counts and failures_of_index(pod) >= self._spec["backoffLimitPerIndex"]

    def _awaiting_successors(self, failed: set[int]) -> dict[int, Object]:
        """Return the last failed pod of each index whose next pod is yet to come (getPodsWithDelayedDeletionPerIndex)."""
        over = self._succeeded_indexes | failed | {index_of(pod) for pod in self._active}
        last: dict[int, Object] = {}
        for pod in self._new_failed:
            index = index_of(pod)
            if index is None or index in over:
                continue
            before = last.get(index)
            if before is None or (
                absolute_failures(before) <= absolute_failures(pod) and finished_time(pod) >= finished_time(before)
            ):
                last[index] = pod
        return last

    @property
    def _standing(self) -> Standing:
        return Standing(
            *(self._job, self._active, self._terminating, self._succeeded, self._succeeded_indexes),
            *(self._failed_indexes, self._delayed, self._backoff, self._now),
        )

    @property
    def _active_after(self) -> int:
        return len(self._active) - len(self._moves.retire) - len(self._delete) + len(self._moves.create)

    def _completion(self) -> Mapping[str, str] | None:
        enough = self._succeeded > 0 if self._completions is None else self._succeeded >= self._completions
        if not enough or self._active_after:
            return None
        text = "Reached expected number of succeeded pods"
        return job_condition("SuccessCriteriaMet", "CompletionsReached", text, self._time)

    def _note_suspension(self) -> None:
        status, state = ("True", "suspended") if self._suspended else ("False", "resumed")
        title = state.capitalize()
        changed = replaced_condition(self._conditions, "Suspended", status, f"Job{title}", f"Job {state}", self._time)
        if changed is not None:
            self._conditions = changed
            self._events.append(("Normal", title, f"Job {state}"))
            if not self._suspended:
                self._start = self._time
            elif self._forgets_start:
                self._start = None

    def _tracked(self, verdict: Mapping[str, str] | None) -> JobPlan:
        """Count the pods that have ended, and say that the Job is over once none is left (trackJobStatusAndRemoveFinalizers)."""
        release = [pod for pod in self._uncounted if self._may_be_released(pod, verdict)]
        failed = [pod for pod in release if self._counts_as_failed(pod, verdict)]
        gone = len(self._moves.retire) + len(self._delete)
        terminating = len(self._terminating) + gone
        conditions, ended = self._conditions, None
        if verdict is not None:
            if target_reached_before(self._job) is None:
                conditions = [*conditions, verdict]
            if not terminating:
                ended = final_condition(verdict, self._time)
                conditions = [*conditions, ended]
                self._note_end(ended)
        ready = {uid_of(pod) for pod in self._active if condition_is(pod, "Ready")}
        ready -= {uid_of(pod) for pod in (*self._moves.retire, *self._delete)}
        status: dict[str, Any] = {
            "startTime": self._start,
            "active": self._active_after or None,
            "ready": len(ready),
            "terminating": terminating,
            "succeeded": self._succeeded or None,
            "failed": int(self._status.get("failed") or 0) + len(failed) or None,
            "completedIndexes": format_indexes(self._succeeded_indexes) or None,
            "failedIndexes": None if self._failed_indexes is None else format_indexes(self._failed_indexes),
            "conditions": conditions or None,
            "uncountedTerminatedPods": {},
        }
        if ended is not None and ended["type"] == "Complete":
            status["completionTime"] = self._time
        moves = self._moves
        return JobPlan(
            *(moves.create, moves.retire, tuple(self._delete), tuple(release), status, self._backoff),
            *(tuple(self._events), moves.wait, self._alarm),
        )

    def _may_be_released(self, pod: Object, verdict: Object | None) -> bool:
        """Return whether a pod needs its finalizer no more (canRemoveFinalizer)."""
        if is_terminating(self._job) or verdict is not None or status_of(pod).get("phase") == "Succeeded":
            return True
        index = index_of(pod)
        awaited = self._delayed.get(index) if index is not None else None
        return has_failed(pod, self._job) and (awaited is None or uid_of(awaited) != uid_of(pod))

    def _counts_as_failed(self, pod: Object, verdict: Mapping[str, str] | None) -> bool:
        if status_of(pod).get("phase") == "Succeeded" or not self._is_valid(pod):
            return False
        ended = verdict is not None and verdict["type"] != "SuccessCriteriaMet"
        return (ended or has_failed(pod, self._job)) and match_policy(self._job, pod).counts

    def _note_end(self, ended: Mapping[str, str]) -> None:
        if ended["type"] == "Failed":
            self._events.append(("Warning", ended["reason"], ended["message"]))
            return
        if self._completions is not None and self._succeeded > self._completions:
            text = "Too many succeeded pods running after completion count reached"
            self._events.append(("Warning", "TooManySucceededPods", text))
        self._events.append(("Normal", "Completed", "Job completed"))
