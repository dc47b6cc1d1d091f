"""Failed pods of a Job: what its policy says about them, when they ended, and how long their successors wait.

Source: kubernetes pkg/controller/job/{pod_failure_policy,backoff_utils,indexed_job_utils}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    conditions_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from harness.kube.go.text import parse_int
from harness.kube.go.times import parse_rfc3339
from lazyrecords import dataclass

__all__ = [
    "Backoff",
    "PolicyMatch",
    "absolute_failures",
    "failure_annotations",
    "failures_of_index",
    "finished_time",
    "has_failed",
    "match_policy",
    "replaces_failed_only",
    "seconds_left",
]

_FAILURES = "batch.kubernetes.io/job-index-failure-count"
_IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
_FIRST, _LONGEST = 10.0, 600.0  # seconds (DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff)


def replaces_failed_only(job: Object) -> bool:
    """Return whether a pod that is being deleted is replaced only when it has failed (onlyReplaceFailedPods)."""
    spec = spec_of(job)
    return spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy") is not None


def has_failed(pod: Object, job: Object) -> bool:
    """Return whether a pod counts as failed: also one that is being deleted, unless it is replaced only when it has failed."""
    phase = status_of(pod).get("phase")
    if phase == "Failed":
        return True
    return not replaces_failed_only(job) and is_terminating(pod) and phase != "Succeeded"


@dataclass(frozen=True, slots=True)
class PolicyMatch:
    """The rule of a podFailurePolicy that a failed pod matches: its action, whether the failure counts, why the Job fails."""

    action: str = ""
    counts: bool = True
    message: str = ""


def match_policy(job: Object, pod: Object) -> PolicyMatch:
    """Return the first matching rule of a Job's podFailurePolicy; one without action when there is none."""
    for number, rule in enumerate((spec_of(job).get("podFailurePolicy") or {}).get("rules") or ()):
        action = rule.get("action", "")
        cause = _cause(rule, pod)
        if cause:
            where = f"{namespace_of(pod)}/{name_of(pod)}"
            message = (
                cause.format(pod=where) + f" matching FailJob rule at index {number}" if action == "FailJob" else ""
            )
            return PolicyMatch(action, action != "Ignore", message)
    return PolicyMatch()


def _cause(rule: Mapping[str, Any], pod: Object) -> str:
    """Return what a rule matches in a pod's status, "" for nothing."""
    codes = rule.get("onExitCodes")
    if codes is not None:
        for field in ("containerStatuses", "initContainerStatuses"):
            for container in status_of(pod).get(field) or ():
                code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode")
                named = codes.get("containerName") in (None, container.get("name"))
                if code and named and (code in codes.get("values", ())) == (codes.get("operator") == "In"):
                    return f"Container {container['name']} for pod {{pod}} failed with exit code {code}"
        return ""
    patterns = {(wanted["type"], wanted.get("status") or "True") for wanted in rule.get("onPodConditions") or ()}
    for present in conditions_of(pod):
        if (present["type"], present.get("status")) in patterns:
            return f"Pod {{pod}} has condition {present['type']}"
    return ""


def finished_time(pod: Object) -> datetime:
    """Return when a pod ended: by its containers, its condition Ready, its deletion or its creation, the first of them that tells."""
    ends = [
        ((container.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for container in status_of(pod).get("containerStatuses") or ()
    ]
    if ends and all(ends):
        return max(parse_rfc3339(str(end)) for end in ends)
    ready = condition(pod, "Ready")
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return parse_rfc3339(ready["lastTransitionTime"])
    meta = metadata_of(pod)
    if is_terminating(pod):
        grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
        return parse_rfc3339(meta["deletionTimestamp"]) - grace
    return parse_rfc3339(meta["creationTimestamp"])


@dataclass(frozen=True, slots=True)
class Backoff:
    """The failures of a Job since its last success, and the time of the latest."""

    failures: int = 0
    latest: datetime | None = None

    def after(self, succeeded: Sequence[Object], failed: Sequence[Object]) -> Backoff:
        """Return the record with pods that have ended since (newBackoffRecord)."""
        ends = sorted(finished_time(pod) for pod in failed)
        if not succeeded:
            return Backoff(self.failures + len(ends), ends[-1]) if ends else self
        success = max(finished_time(pod) for pod in succeeded)
        since = [end for end in ends if end > success]
        return Backoff(len(since), since[-1]) if since else Backoff()


def seconds_left(failures: int, latest: datetime | None, now: datetime) -> float:
    """Return the seconds until the next pod may come after so many failures: ten, doubled with each, up to ten minutes."""
    if not failures or latest is None:
        return 0.0
    wait = min(_FIRST * 2.0 ** min(failures - 1, 32), _LONGEST)
    return max(0.0, wait - (now - latest).total_seconds())


def failures_of_index(pod: Object) -> int:
    """Return how many pods of the same index failed before this one, without ignored ones."""
    return _count(pod, _FAILURES)


def absolute_failures(pod: Object) -> int:
    """Return how many pods of the same index failed before this one."""
    return _count(pod, _FAILURES) + _count(pod, _IGNORED)


def failure_annotations(job: Object, replaced: Object | None) -> dict[str, str]:
    """Return the counts that a new pod of an index carries, whose last pod was `replaced`."""
    if replaced is None:
        return {_FAILURES: "0"}
    counts = match_policy(job, replaced).counts
    ignored = _count(replaced, _IGNORED) + (not counts)
    made = {_FAILURES: str(failures_of_index(replaced) + counts)}
    return {**made, _IGNORED: str(ignored)} if ignored else made


def _count(pod: Object, annotation: str) -> int:
    number = parse_int(annotations_of(pod).get(annotation, ""))
    return number if number is not None and 0 <= number < 1 << 31 else 0
