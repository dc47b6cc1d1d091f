"""Which pods a ReplicaSet deletes when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePodsWithRanks.Less), pkg/controller/replicaset/replica_set.go
(getPodsToDelete).
"""

from typing import Any

import pytest

from harness.kube.workloads import replica_set
from harness.testing import pod


def pod_on(
    name: str, node: str | None = "a", *, ready: bool = True, phase: str = "Running", cost: str = ""
) -> dict[str, Any]:
    made = pod(name, **({"nodeName": node} if node else {}))
    if cost:
        made["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {**made, "status": status}


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        ([pod_on("bound", ready=False, cost="-5"), pod_on("unbound", None, phase="Pending", cost="9")], "unbound"),
        ([pod_on("running", cost="-5"), pod_on("pending", "b", phase="Pending", ready=False)], "pending"),
        ([pod_on("ready", cost="-5"), pod_on("unready", "b", ready=False)], "unready"),
        ([pod_on("cheap", cost="-5"), pod_on("x", "b"), pod_on("y", "b")], "cheap"),
        ([pod_on("alone", "a"), pod_on("older", "b"), pod_on("younger", "b")], "younger"),
        ([pod_on("older", "b"), pod_on("younger", "b"), pod_on("alone", "a")], "younger"),
        ([pod_on("older", "a"), pod_on("younger", "b")], "younger"),
        ([pod_on("wrong", cost="much"), pod_on("cheap", "b", cost="-1")], "cheap"),
    ],
    ids=[
        "unbound",
        "pending",
        "unready",
        "cost",
        "two-on-a-node",
        "two-on-a-node-older",
        "age",
        "cost-that-is-no-number",
    ],
)
def test_the_first_that_is_deleted(pods: list[dict[str, Any]], first: str) -> None:
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": len(pods) - 1}}
    assert [each["metadata"]["name"] for each in replica_set(owner, pods).delete] == [first]


def test_pods_that_end_already_are_not_deleted_again() -> None:
    going = pod_on("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    assert replica_set(owner, [going, pod_on("stays")]).delete == ()
