"""The status of a Deployment, and its condition Progressing.

Source: kubernetes pkg/controller/deployment/{sync,progress}.go, util/deployment_util.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, condition, conditions_of, metadata_of, name_of, status_of
from harness.kube.go.times import seconds_between
from harness.kube.workloads.deployments import Strategy, replicas_of

__all__ = ["found_new", "is_complete", "pause_condition", "rollout_status", "sum_of", "until_deadline"]

_PROGRESSING, _AVAILABLE, _FAILURE = "Progressing", "Available", "ReplicaFailure"
_COMPLETE, _TIMED_OUT = "NewReplicaSetAvailable", "ProgressDeadlineExceeded"
_PAUSED, _RESUMED = "DeploymentPaused", "DeploymentResumed"

Condition = Mapping[str, Any]
_COUNTS = ("replicas", "readyReplicas", "availableReplicas")


def _new(kind: str, status: str, reason: str, message: str, now: str) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def _with(conditions: Sequence[Condition], new: dict[str, Any]) -> list[Condition]:
    """Return the conditions with another one, unless an equal one is there already (SetDeploymentCondition)."""
    present = next((condition for condition in conditions if condition["type"] == new["type"]), None)
    if present is not None and present["status"] == new["status"]:
        if present["reason"] == new["reason"]:
            return list(conditions)
        new = {**new, "lastTransitionTime": present["lastTransitionTime"]}
    return [*_without(conditions, new["type"]), new]


def _without(conditions: Sequence[Condition], kind: str) -> list[Condition]:
    return [condition for condition in conditions if condition["type"] != kind]


def sum_of(replica_sets: Sequence[Object], field: str) -> int:
    """The sum of a number in the status of ReplicaSets."""
    return sum(int(status_of(replica_set).get(field) or 0) for replica_set in replica_sets)


def is_complete(deployment: Object, strategy: Strategy, status: Mapping[str, Any]) -> bool:
    """Return whether all pods are new and available, and nothing else is there."""
    counts = [int(status.get(field) or 0) for field in ("updatedReplicas", "replicas", "availableReplicas")]
    generation = int(metadata_of(deployment).get("generation", 1))
    return counts == [strategy.replicas] * 3 and int(status.get("observedGeneration") or 0) >= generation


def pause_condition(deployment: Object, strategy: Strategy, now: str) -> dict[str, Any] | None:
    """The status after the Deployment was paused or resumed; None where that is known already."""
    present = condition(deployment, _PROGRESSING)
    if strategy.deadline is None or (present is not None and present["reason"] == _TIMED_OUT):
        return None
    paused = present is not None and present["reason"] == _PAUSED
    if strategy.paused == paused:
        return None
    reason, message = (_PAUSED, "Deployment is paused") if strategy.paused else (_RESUMED, "Deployment is resumed")
    return {"conditions": _with(conditions_of(deployment), _new(_PROGRESSING, "Unknown", reason, message, now))}


def found_new(deployment: Object, strategy: Strategy, new: Object, now: str, *, created: bool) -> dict[str, Any] | None:
    """The status that tells of the new ReplicaSet; None where it needs none."""
    if strategy.deadline is None or (not created and condition(deployment, _PROGRESSING) is not None):
        return None
    reason = "NewReplicaSetCreated" if created else "FoundNewReplicaSet"
    message = f'{"Created" if created else "Found"} new replica set "{name_of(new)}"'
    return {"conditions": _with(conditions_of(deployment), _new(_PROGRESSING, "True", reason, message, now))}


def rollout_status(
    deployment: Object, strategy: Strategy, old: Sequence[Object], new: Object | None, now: str, *, judged: bool
) -> dict[str, Any]:
    """The status of a Deployment; `judged`: with its progress, which a paused or a scaled one does not get."""
    status = _counted(deployment, strategy, old, new)
    conditions: list[Condition] = list(conditions_of(deployment))
    available, least = status["availableReplicas"], strategy.least
    enough = _new(_AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    lacking = _new(
        _AVAILABLE, "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", now
    )
    conditions = _with(conditions, enough if available >= least else lacking)
    if judged:
        conditions = _judged(deployment, strategy, status, conditions, new, now)
        conditions = _failures(conditions, old, new)
    return {**status, "conditions": conditions}


def _counted(deployment: Object, strategy: Strategy, old: Sequence[Object], new: Object | None) -> dict[str, Any]:
    present = [*old, *(() if new is None else (new,))]
    status: dict[str, Any] = {field: sum_of(present, field) for field in _COUNTS}
    status["updatedReplicas"] = sum_of([] if new is None else [new], "replicas")
    status["unavailableReplicas"] = max(0, replicas_of(present) - status["availableReplicas"])
    if any("terminatingReplicas" in status_of(replica_set) for replica_set in present):
        status["terminatingReplicas"] = sum_of(present, "terminatingReplicas")
    status["observedGeneration"] = int(metadata_of(deployment).get("generation", 1))
    return status


def _judged(
    deployment: Object,
    strategy: Strategy,
    status: Mapping[str, Any],
    conditions: list[Condition],
    new: Object | None,
    now: str,
) -> list[Condition]:
    """The conditions with the progress of the rollout (syncRolloutStatus)."""
    if strategy.deadline is None:
        return _without(conditions, _PROGRESSING)
    present = condition(deployment, _PROGRESSING)
    if status["replicas"] == status["updatedReplicas"] and present is not None and present["reason"] == _COMPLETE:
        return conditions
    subject = f'Deployment "{name_of(deployment)}"' if new is None else f'ReplicaSet "{name_of(new)}"'
    if is_complete(deployment, strategy, status):
        done = _new(_PROGRESSING, "True", _COMPLETE, f"{subject} has successfully progressed.", now)
        return _with(conditions, done)
    if _has_progressed(status_of(deployment), status):
        moving = _new(_PROGRESSING, "True", "ReplicaSetUpdated", f"{subject} is progressing.", now)
        if present is not None and present["status"] == "True":
            moving["lastTransitionTime"] = present["lastTransitionTime"]
        return [*_without(conditions, _PROGRESSING), moving]
    if present is not None and _is_late(present, strategy.deadline, now):
        late = _new(_PROGRESSING, "False", _TIMED_OUT, f"{subject} has timed out progressing.", now)
        return _with(conditions, late)
    return conditions


def _has_progressed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    def old(status: Mapping[str, Any]) -> int:
        return int(status.get("replicas") or 0) - int(status.get("updatedReplicas") or 0)

    grown = any(
        int(after.get(field) or 0) > int(before.get(field) or 0)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )
    return grown or old(after) < old(before)


def _is_late(progressing: Condition, deadline: int, now: str) -> bool:
    if progressing["reason"] == _COMPLETE:
        return False
    return progressing["reason"] == _TIMED_OUT or seconds_between(progressing["lastUpdateTime"], now) > deadline


def _failures(conditions: Sequence[Condition], old: Sequence[Object], new: Object | None) -> list[Condition]:
    """The conditions with the failure of a ReplicaSet, the new one's first (getReplicaFailures)."""
    for replica_set in (*(() if new is None else (new,)), *old):
        failure = condition(replica_set, _FAILURE)
        if failure is not None:
            return _with(conditions, {**failure, "lastUpdateTime": failure["lastTransitionTime"]})
    return _without(conditions, _FAILURE)


def until_deadline(deployment: Object, strategy: Strategy, now: str) -> float | None:
    """The seconds until the progress has to be looked at again; None where that is not needed (requeueStuckDeployment).

    Upstream looks again and again, as fast as its queue lets it, at a Deployment that was complete once and has waited for a pod for
    longer than its deadline. Time alone changes nothing of such a one (DeploymentTimedOut), so that it is not looked at here.
    """
    present = condition(deployment, _PROGRESSING)
    if strategy.deadline is None or present is None or present["reason"] == _TIMED_OUT:
        return None
    if is_complete(deployment, strategy, status_of(deployment)):
        return None
    left = strategy.deadline - seconds_between(present["lastUpdateTime"], now)
    if left < 0 and present["reason"] == _COMPLETE:
        return None
    return max(0.0, left) + 1.0
