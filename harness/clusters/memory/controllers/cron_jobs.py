"""The CronJob controller.

Source: kubernetes pkg/controller/cronjob/cronjob_controllerv2.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Any, Literal, cast

from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import (
    Object,
    controller_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring
from harness.kube.api.time_zones import TimeZoneError, time_zone
from harness.kube.go.cron import Schedule, ScheduleError
from harness.kube.workloads.cron_jobs import CronPlan, job_of, plan_cron_job, surplus_jobs, without_active

__all__ = ["CronJobs"]


class CronJobs:
    """Makes the Jobs of CronJobs when they are due."""

    name = "cronjobs"
    backoff = (0.005, 1000.0)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def watches(self) -> Mapping[str, Router]:
        """Watch CronJobs and their Jobs."""
        return {"CronJob": self._own, "Job": self._of_job}

    def _own(self, change: Change) -> Iterable[Hashable]:
        if change.type is not ChangeType.DELETED:
            yield (namespace_of(change.object), name_of(change.object))

    def _of_job(self, change: Change) -> Iterable[Hashable]:
        owner = controller_of(change.object)
        if owner is not None and owner["kind"] == "CronJob":
            yield (namespace_of(change.object), owner["name"])

    def reconcile(self, key: Hashable) -> Result:
        """Look at one CronJob: end what is over, start what is due."""
        namespace, name = cast("tuple[str, str]", key)
        tools = self._tools
        cron_job = tools.view.get("CronJob", name, namespace)
        if cron_job is None or is_terminating(cron_job):
            return DONE
        spec, jobs = spec_of(cron_job), tools.controlled(cron_job, "Job")
        try:
            zone = time_zone(spec["timeZone"]) if spec.get("timeZone") else None
            schedule = Schedule.parse(spec["schedule"])
        except (TimeZoneError, ScheduleError) as error:
            tools.publish_event(cron_job, "Warning", "UnparseableSchedule", str(error))
            return DONE
        surplus, stored = surplus_jobs(cron_job, jobs), cron_job
        for job in surplus:
            self._delete(cron_job, job)
        cron_job = without_active(cron_job, surplus)
        now = tools.clock.datetime()
        plan = plan_cron_job(cron_job, jobs, schedule, zone, now)
        status: dict[str, Any] = {"active": list(plan.active) or None, "lastSuccessfulTime": plan.succeeded_at}
        for kind, reason, message in plan.events:
            tools.publish_event(cron_job, cast("Literal['Normal', 'Warning']", kind), reason, message)
        if plan.due is not None:
            status |= self._start(cron_job, plan, plan.due, zone)
        tools.set_fields(stored, status)
        return DONE if plan.wait is None else Result(plan.wait, Wait.ALARM)

    def _start(self, cron_job: Object, plan: CronPlan, due: datetime, zone: tzinfo | None) -> dict[str, Any]:
        """Make the Job that is due, in place of those that run where they are replaced; return the fields of the status that follow."""
        tools = self._tools
        active = list(plan.active)
        if plan.replace:
            for ref in active:
                job = tools.view.get("Job", ref["name"], namespace_of(cron_job))
                if job is not None:
                    self._delete(cron_job, job)
            active = []
        try:
            made = tools.writer.create(job_of(cron_job, due, zone))
        except ApiError as error:
            if error.reason == "AlreadyExists":
                return {}
            tools.publish_event(cron_job, "Warning", "FailedCreate", f"Error creating job: {error.message}")
            raise ReconcileError(error.message, wait=Wait.POLL) from None
        tools.publish_event(cron_job, "Normal", "SuccessfulCreate", f"Created job {name_of(made)}")
        active.append(
            {
                "kind": "Job",
                "namespace": namespace_of(made),
                "name": name_of(made),
                "uid": uid_of(made),
                "apiVersion": "batch/v1",
                "resourceVersion": metadata_of(made)["resourceVersion"],
            }
        )
        return {"active": active, "lastScheduleTime": due.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def _delete(self, cron_job: Object, job: Object) -> None:
        with ignoring(404, 409):
            self._tools.delete(job)
            self._tools.publish_event(cron_job, "Normal", "SuccessfulDelete", f"Deleted job {name_of(job)}")
