"""The Job controller, and the one that deletes Jobs some time after their end.

Source: kubernetes pkg/controller/job/job_controller.go, pkg/controller/ttlafterfinished/ttlafterfinished_controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from harness.clusters.memory.controllers.adoption import Adoption, may_be_claimed
from harness.clusters.memory.controllers.selecting import Selecting
from harness.clusters.memory.controllers.tools import Tools, outcome
from harness.engine.clock import SECOND
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import (
    Object,
    controller_of,
    finalizers_of,
    finalizers_without,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ignoring
from harness.kube.api.versions import Version
from harness.kube.scheduling.pods import is_active
from harness.kube.workloads.job_conditions import finished_condition
from harness.kube.workloads.job_failures import Backoff
from harness.kube.workloads.job_pods import FINALIZER
from harness.kube.workloads.jobs import JobPlan, plan_job, seconds_to_live

__all__ = ["Jobs"]

_BATCH = SECOND  # changes of pods are looked at together (SyncJobBatchPeriod)
_FORGETS_START = (1, 36)
_KEEPS_ACTIVE: Mapping[tuple[int, int], Version] = {
    version.line: version for version in (Version(1, 34, 10), Version(1, 35, 7), Version(1, 36, 3))
}
"""From which patch of a line on `active` holds while the next pod has to wait (manageJob; read in 1.34.9, 1.34.10, 1.35.6, 1.36.2 and
1.36.3; 1.35.7 is of the same day). Later lines have it, earlier ones never got it."""
_COMPARES_READY = (1, 32)
"""From when on the API server refuses a status with more ready pods than active ones (pkg/registry/batch/job/strategy.go: with
JobManagedBy, which is on by default from then on)."""
_OWN = "kubernetes.io/job-controller"

_Key = tuple[str, str]
"""The namespace and name of a Job; "" and the uid of one that is gone."""


class Jobs:
    """Keeps the pods of Jobs."""

    name = "jobs"
    backoff = (1.0, 60.0)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._selecting = Selecting()
        self._adoption = Adoption(tools, self._selecting)
        self._due: dict[_Key, int] = {}
        """The time of the next look at each Job of which something has changed."""
        self._failures: dict[_Key, Backoff] = {}

    def watches(self) -> Mapping[str, Router]:
        """Watch Jobs and their pods."""
        return {"Job": self._own, "Pod": self._of_pod}

    def _own(self, change: Change) -> Iterable[Hashable]:
        job, old = change.object, change.old
        self._selecting.hear(change)
        key = (namespace_of(job), name_of(job))
        if change.type is ChangeType.DELETED:
            self._failures.pop(key, None)
            self._due.pop(key, None)
            yield ("", uid_of(job))
            return
        # one that is over is left alone, but for its time to live
        respecified = old is None or metadata_of(old).get("generation") != metadata_of(job).get("generation")
        self._note(key, 0 if respecified else _BATCH)
        yield key

    def _note(self, key: _Key, after: int) -> None:
        due = self._tools.clock.now + after
        self._due[key] = min(self._due.get(key, due), due)

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        pod, old = change.object, change.old
        owner = controller_of(pod)
        keys: list[_Key] = []
        if owner is None:
            if may_be_claimed(change):
                selecting = self._selecting.workloads_selecting(pod, "Job")
                keys = [cast("tuple[str, str, str]", selected)[1:] for selected in selecting]
        elif owner["kind"] == "Job":
            if old is not None and labels_of(pod) != labels_of(old):
                self._adoption.suspect(owner["uid"])
            keys = [(namespace_of(pod), owner["name"])]
            if is_terminating(pod) and FINALIZER in finalizers_of(pod):
                yield ("", owner["uid"])
        for key in keys:
            self._note(key, _BATCH)
            yield key

    def reconcile(self, key: Hashable) -> Result:
        """Take one Job a step further, or let the pods of one go that is gone."""
        namespace, name = cast("_Key", key)
        if not namespace:
            return self._let_go(name)
        job = self._tools.view.get("Job", name, namespace)
        if job is None or spec_of(job).get("managedBy") not in (None, _OWN):
            return DONE
        now = self._tools.clock.now
        due = self._due.get((namespace, name), now)
        if now < due:
            return Result((due - now) / SECOND)
        self._due.pop((namespace, name), None)
        if finished_condition(job) is not None:
            self._failures.pop((namespace, name), None)
            return self._expire(job)
        if not is_terminating(job):
            self._adoption.claim(job, "Pod")
        return self._sync(job, (namespace, name))

    def _sync(self, job: Object, key: _Key) -> Result:
        tools = self._tools
        forgets = tools.version().reaches(_FORGETS_START)
        backoff, now = self._failures.get(key, Backoff()), tools.clock.datetime()
        plan = plan_job(job, tools.controlled(job, "Pod"), backoff, now, forgets_start=forgets)
        if plan.wait is not None and _forgets_active(tools.version()):
            # "cannot set more ready pods than active": nothing is written until a pod may come
            if plan.status["ready"] and tools.version().reaches(_COMPARES_READY):
                return Result(plan.wait)
            plan = replace(plan, status={**plan.status, "active": None})
        refused = tools.create(job, plan.create)
        for pod in plan.retire:
            self._release(pod)
            tools.delete_pod(job, pod)
        for pod in plan.delete:
            tools.delete_pod(job, pod)
        for pod in plan.release:
            self._release(pod)
        status = dict(plan.status)
        if refused is not None:
            status["active"] = sum(map(is_active, tools.controlled(job, "Pod"))) or None
        job = tools.set_fields(job, status)
        self._failures[key] = plan.backoff
        self._publish(job, plan)
        if refused is not None:
            return outcome(refused)
        if plan.wait is not None:
            return Result(plan.wait)
        if plan.alarm is not None and finished_condition(job) is None:
            return Result(max(0.0, plan.alarm), Wait.ALARM)
        return self._expire(job)

    def _publish(self, job: Object, plan: JobPlan) -> None:
        for kind, reason, message in plan.events:
            self._tools.publish_event(job, cast("Literal['Normal', 'Warning']", kind), reason, message)

    def _expire(self, job: Object) -> Result:
        """Delete a Job whose time after its end has passed."""
        left = seconds_to_live(job, self._tools.clock.datetime())
        if left is None or is_terminating(job):
            return DONE
        if left > 0:
            return Result(left, Wait.ALARM)
        with ignoring(404, 409):
            self._tools.delete(job)
        return DONE

    def _let_go(self, uid: str) -> Result:
        """Take the finalizer off pods whose Job is gone or over (syncOrphanPod)."""
        for pod in self._tools.view.indexed("owned-by", uid):
            if pod["kind"] != "Pod" or FINALIZER not in finalizers_of(pod):
                continue
            owner = controller_of(pod)
            job = None if owner is None else self._tools.view.get("Job", owner["name"], namespace_of(pod))
            if job is None or uid_of(job) != uid or finished_condition(job) is not None:
                self._release(pod)
        return DONE

    def _release(self, pod: Object) -> None:
        if FINALIZER not in finalizers_of(pod):
            return
        patch: dict[str, Any] = {"metadata": {"finalizers": finalizers_without(pod, FINALIZER)}}
        with ignoring(404, 409):
            self._tools.writer.patch("Pod", name_of(pod), patch, namespace=namespace_of(pod))


def _forgets_active(version: Version) -> bool:
    """Return whether a control plane counts no active pod while the next one has to wait after a failure."""
    return version < _KEEPS_ACTIVE.get(version.line, max(_KEEPS_ACTIVE.values()))
