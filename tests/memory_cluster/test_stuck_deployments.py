"""A Deployment that was complete, and then waits for a pod for longer than its deadline, is left alone until something changes."""

from __future__ import annotations

from harness.kube.workloads.deployment_status import until_deadline
from harness.kube.workloads.deployments import Strategy
from harness.testing import deployment

NOW = "2026-01-01T01:00:00Z"


def waiting(reason: str, since: str) -> dict[str, object]:
    condition = {"type": "Progressing", "status": "True", "reason": reason, "lastUpdateTime": since}
    status = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1, "conditions": [condition]}
    return {**deployment("web", 2), "status": status}


def wait(reason: str, since: str) -> float | None:
    obj = waiting(reason, since)
    return until_deadline(obj, Strategy.from_spec(obj), NOW)


def test_time_changes_nothing_of_what_was_complete() -> None:
    assert wait("NewReplicaSetAvailable", "2026-01-01T00:00:00Z") is None
    assert wait("NewReplicaSetAvailable", "2026-01-01T00:59:00Z") == 541.0


def test_what_was_never_complete_is_looked_at_when_its_deadline_is_over() -> None:
    assert wait("ReplicaSetUpdated", "2026-01-01T00:00:00Z") == 1.0
    assert wait("ProgressDeadlineExceeded", "2026-01-01T00:00:00Z") is None
