"""The conditions of a Job, and the verdicts that end it.

Source: kubernetes pkg/controller/job/{job_controller,success_policy}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.kube.api.objects import Object, condition, condition_is, spec_of, status_of
from harness.kube.workloads.job_failures import has_failed, match_policy
from harness.kube.workloads.job_indexes import parse_indexes

__all__ = [
    "final_condition",
    "finished_condition",
    "job_condition",
    "policy_failure",
    "replaced_condition",
    "restarted_too_often",
    "success_by_policy",
    "target_reached_before",
]


def job_condition(kind: str, reason: str, message: str, now: str, status: str = "True") -> dict[str, str]:
    """Return a condition of a Job (newCondition)."""
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    return {"type": kind, "status": status, **times, "reason": reason, "message": message}


def finished_condition(job: Object) -> Object | None:
    """Return the condition that says that a Job is over, Complete or Failed; None while it is not."""
    for kind in ("Complete", "Failed"):
        if condition_is(job, kind):
            return condition(job, kind)
    return None


def final_condition(verdict: Mapping[str, str], now: str) -> dict[str, str]:
    """Return the condition that follows a verdict once all pods are gone: Failed after FailureTarget, Complete after SuccessCriteriaMet."""
    kind = "Complete" if verdict["type"] == "SuccessCriteriaMet" else "Failed"
    return job_condition(kind, verdict["reason"], verdict["message"], now)


def target_reached_before(job: Object) -> Mapping[str, str] | None:
    """Return the verdict that an earlier look came to."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        if condition_is(job, kind):
            return condition(job, kind)
    return None


def policy_failure(job: Object, pods: Sequence[Object]) -> str:
    """Return why the podFailurePolicy fails the whole Job, "" when it does not."""
    for pod in pods:
        message = match_policy(job, pod).message if has_failed(pod, job) else ""
        if message:
            return message
    return ""


def restarted_too_often(job: Object, pods: Sequence[Object]) -> bool:
    """Return whether containers that are restarted in their pod have failed as often as backoffLimit says."""
    spec = spec_of(job)
    if spec_of(spec.get("template") or {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(
        int(container.get("restartCount") or 0)
        for pod in pods
        if status_of(pod).get("phase") in ("Running", "Pending")
        for field in ("initContainerStatuses", "containerStatuses")
        for container in status_of(pod).get(field) or ()
    )
    return restarts > 0 if spec["backoffLimit"] == 0 else restarts >= spec["backoffLimit"]


def success_by_policy(job: Object, succeeded: set[int]) -> str:
    """Return the message of the successPolicy's rule that the succeeded indexes meet, "" for none."""
    spec = spec_of(job)
    for number, rule in enumerate((spec.get("successPolicy") or {}).get("rules") or () if succeeded else ()):
        text, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        if text is None:
            met = count is not None and len(succeeded) >= count
        else:
            required = parse_indexes(text, spec["completions"])
            among = len(required & succeeded)
            met = bool(required) and (among == len(required) or (count is not None and among >= count))
        if met:
            return f"Matched rules at index {number}"
    return ""


def replaced_condition(
    present: Sequence[Object], kind: str, status: str, reason: str, message: str, now: str
) -> list[Object] | None:
    """Return the conditions with one of them in this state, None when it is; a new one that is False is left out.

    Source: ensureJobConditionStatus.
    """
    made = job_condition(kind, reason, message, now, status)
    for place, old in enumerate(present):
        if old["type"] == kind:
            if (old["status"], old.get("reason"), old.get("message")) == (status, reason, message):
                return None
            return [*present[:place], made, *present[place + 1 :]]
    return [*present, made] if status != "False" else None
