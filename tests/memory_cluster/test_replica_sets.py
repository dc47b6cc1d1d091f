"""Which pods a ReplicaSet deletes when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePodsWithRanks.Less), pkg/controller/replicaset/replica_set.go
(getPodsToDelete).
"""

from typing import Any

import pytest

from harness.kube.workloads import replica_set


def pod(
    name: str, node: str | None = "a", *, ready: bool = True, phase: str = "Running", cost: str = ""
) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": "default"}
    if cost:
        meta["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {"kind": "Pod", "metadata": meta, "spec": {"nodeName": node} if node else {}, "status": status}


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        ([pod("bound", ready=False, cost="-5"), pod("unbound", None, phase="Pending", cost="9")], "unbound"),
        ([pod("running", cost="-5"), pod("pending", "b", phase="Pending", ready=False)], "pending"),
        ([pod("ready", cost="-5"), pod("unready", "b", ready=False)], "unready"),
        ([pod("cheap", cost="-5"), pod("x", "b"), pod("y", "b")], "cheap"),
        ([pod("alone", "a"), pod("older", "b"), pod("younger", "b")], "younger"),
        ([pod("older", "b"), pod("younger", "b"), pod("alone", "a")], "younger"),
        ([pod("older", "a"), pod("younger", "b")], "younger"),
        ([pod("wrong", cost="much"), pod("cheap", "b", cost="-1")], "cheap"),
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
    going = pod("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    assert replica_set(owner, [going, pod("stays")]).delete == ()
