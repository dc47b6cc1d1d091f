"""The next Job of a CronJob, and what its status keeps of those before.

Source: kubernetes pkg/controller/cronjob/{cronjob_controllerv2,utils}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owner_reference,
    spec_of,
    status_of,
    uid_of,
    with_status,
)
from harness.kube.go.cron import Schedule
from harness.kube.go.times import parse_rfc3339
from harness.kube.workloads.job_conditions import finished_condition
from lazyrecords import dataclass

__all__ = ["CronPlan", "job_name", "job_of", "plan_cron_job", "surplus_jobs", "without_active"]

_SCHEDULED_FOR = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_AFTER = 0.1  # seconds after the moment of a schedule (nextScheduleDelta)
_MANY = 100  # missed moments that are told
_Event = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CronPlan:
    """The next writes for a CronJob.

    `due`: the moment whose Job is to be made, None for none. `replace`: whether active Jobs are deleted before. `active`, `succeeded_at`:
    for its status. `events`: type, reason and message. `wait`: seconds until the next look.
    """

    due: datetime | None
    replace: bool
    active: tuple[Object, ...]
    succeeded_at: str | None
    events: tuple[_Event, ...]
    wait: float | None


def plan_cron_job(
    cron_job: Object, jobs: Sequence[Object], schedule: Schedule, zone: tzinfo | None, now: datetime
) -> CronPlan:
    """Return what is to be done for a CronJob that controls these Jobs, by its schedule on the clocks of a zone (UTC)."""
    active, succeeded_at, events = _looked_at(cron_job, jobs)

    def plan(due: datetime | None = None, replace: bool = False, wait: float | None = None) -> CronPlan:
        return CronPlan(due, replace, tuple(active), succeeded_at, tuple(events), wait)

    spec = spec_of(cron_job)
    if spec.get("suspend"):
        return plan()
    last = status_of(cron_job).get("lastScheduleTime")
    times = _Times(schedule, zone, parse_rfc3339(last or metadata_of(cron_job)["creationTimestamp"]), now)
    deadline = spec.get("startingDeadlineSeconds")
    due, missed = times.most_recent(deadline)
    wait = times.seconds_to_next()
    if due is None:
        return plan(wait=wait)
    if missed > _MANY:
        why = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        events.append(("Warning", "TooManyMissedTimes", why))
    if deadline is not None and due + timedelta(seconds=deadline) < now:
        late = f"Missed scheduled time to start a job: {due:%a, %d %b %Y %H:%M:%S +0000}"
        events.append(("Warning", "MissSchedule", late))
        return plan(wait=wait)
    named = any(ref["name"] == job_name(cron_job, due) for ref in active)
    if named or (last is not None and parse_rfc3339(last) == due):
        return plan(wait=wait)
    policy = spec.get("concurrencyPolicy")
    if policy == "Forbid" and active:
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        events.append(("Normal", "JobAlreadyActive", text))
        return plan(wait=wait)
    return plan(due, policy == "Replace", _Times(schedule, zone, due, now).seconds_to_next())


def _looked_at(cron_job: Object, jobs: Sequence[Object]) -> tuple[list[Object], str | None, list[_Event]]:
    """Return the Jobs that are still active, when the last one succeeded, and the events about those that are not."""
    status = status_of(cron_job)
    active: list[Object] = list(status.get("active") or ())
    succeeded_at: str | None = status.get("lastSuccessfulTime")
    events: list[_Event] = []
    listed = {ref["uid"] for ref in active}
    for job in jobs:
        end, name = finished_condition(job), name_of(job)
        if end is None:
            if uid_of(job) not in listed:
                text = f"Saw a job that the controller did not create or forgot: {name}"
                events.append(("Warning", "UnexpectedJob", text))
            continue
        if uid_of(job) in listed:
            active = [ref for ref in active if ref["uid"] != uid_of(job)]
            events.append(("Normal", "SawCompletedJob", f"Saw completed job: {name}, condition: {end['type']}"))
        completed = status_of(job).get("completionTime")
        if end["type"] == "Complete" and completed and (succeeded_at is None or completed > succeeded_at):
            succeeded_at = completed
    present = {uid_of(job) for job in jobs}
    for ref in active:
        if ref["uid"] not in present:
            events.append(("Normal", "MissingJob", f"Active job went missing: {ref['name']}"))
    return [ref for ref in active if ref["uid"] in present], succeeded_at, events


class _Times:
    """The moments of a schedule since an `earliest` one."""

    def __init__(self, schedule: Schedule, zone: tzinfo | None, earliest: datetime, now: datetime) -> None:
        self._schedule, self._zone, self._earliest, self._now = schedule, zone, earliest, now

    def _next(self, moment: datetime) -> datetime | None:
        return self._schedule.next_after(moment, self._zone)

    def most_recent(self, deadline: float | None) -> tuple[datetime | None, int]:
        """Return the latest moment until now, and how many there were; none before so many seconds ago (mostRecentScheduleTime)."""
        earliest = self._earliest
        if deadline is not None:
            earliest = max(earliest, self._now - timedelta(seconds=deadline))
        first = self._next(earliest)
        if first is None or self._now < first:
            return None, 0
        second = self._next(first)
        if second is None or self._now < second:
            return first, 0
        between = round((second - first).total_seconds())
        count = int((self._now - first).total_seconds()) // max(1, between) + 1
        recent: datetime | None = None
        for moment in self._moments(first + timedelta(seconds=(count - 2) * between)):
            recent = moment
        return recent, count

    def _moments(self, after: datetime) -> Iterator[datetime]:
        moment = self._next(after)
        while moment is not None and moment <= self._now:
            yield moment
            moment = self._next(moment)

    def seconds_to_next(self) -> float | None:
        """Return the seconds until a moment later, at which the CronJob is looked at again; None when there is none."""
        recent, missed = self.most_recent(None)
        after = recent or (self._now if missed else self._earliest)
        following = self._next(after)
        return None if following is None else max(0.0, (following - self._now).total_seconds() + _AFTER)


def job_name(cron_job: Object, moment: datetime) -> str:
    """Return the name of the Job of a moment: that of the CronJob and the minutes since 1970."""
    return f"{name_of(cron_job)}-{int(moment.timestamp()) // 60}"


def job_of(cron_job: Object, moment: datetime, zone: tzinfo | None) -> dict[str, Any]:
    """Return the Job of a moment (getJobFromTemplate2)."""
    template = spec_of(cron_job).get("jobTemplate") or {}
    scheduled = moment.astimezone(zone or UTC).isoformat().replace("+00:00", "Z")
    meta: Mapping[str, Any] = {
        "name": job_name(cron_job, moment),
        "namespace": namespace_of(cron_job),
        "labels": dict(labels_of(template)),
        "annotations": {**annotations_of(template), _SCHEDULED_FOR: scheduled},
        "ownerReferences": [owner_reference(cron_job)],
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": dict(spec_of(template))}


def surplus_jobs(cron_job: Object, jobs: Sequence[Object]) -> list[Object]:
    """Return the Jobs beyond the limits of the history, the oldest first of each kind (cleanupFinishedJobs)."""
    spec = spec_of(cron_job)
    surplus: list[Object] = []
    for kind, field in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
        ended = sorted((job for job in jobs if condition_is(job, kind)), key=_by_start)
        limit = spec.get(field)
        if limit is not None:
            surplus += ended[: max(0, len(ended) - int(limit))]
    return surplus


def without_active(cron_job: Object, jobs: Sequence[Object]) -> Object:
    """Return a CronJob whose status does not list these Jobs as active."""
    active, gone = status_of(cron_job).get("active") or (), {uid_of(job) for job in jobs}
    left = [ref for ref in active if ref["uid"] not in gone]
    return cron_job if len(left) == len(active) else with_status(cron_job, active=left)


def _by_start(job: Object) -> tuple[bool, str, str]:
    start = status_of(job).get("startTime")
    return start is None, start or "", name_of(job)
