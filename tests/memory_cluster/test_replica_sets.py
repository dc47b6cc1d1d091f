"""Which pods a ReplicaSet deletes when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePodsWithRanks.Less), pkg/controller/replicaset/replica_set.go
(getPodsToDelete).
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.kube.workloads import replica_set
from harness.testing import pod

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def pod_on(
    name: str,
    node: str | None = "a",
    *,
    ready: bool = True,
    phase: str = "Running",
    cost: str = "",
    hours: float = 1,
    since: float | None = None,
    restarts: int = 0,
) -> dict[str, Any]:
    """A pod that was made so many hours ago, and is ready for `since` hours."""
    made: dict[str, Any] = {**pod(name)}
    if node:
        made["spec"] = {**made["spec"], "nodeName": node}
    made["metadata"] |= {"uid": name, "creationTimestamp": ago(hours)}
    if cost:
        made["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    since = hours if since is None else since
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": ago(since)}
    containers = [{"name": "c", "restartCount": restarts}]
    return {**made, "status": {"phase": phase, "conditions": [condition], "containerStatuses": containers}}


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        ([pod_on("bound", ready=False, cost="-5"), pod_on("unbound", None, phase="Pending", cost="9")], "unbound"),
        ([pod_on("running", cost="-5"), pod_on("pending", "b", phase="Pending", ready=False)], "pending"),
        ([pod_on("ready", cost="-5"), pod_on("unready", "b", ready=False)], "unready"),
        ([pod_on("cheap", cost="-5"), pod_on("x", "b"), pod_on("y", "b")], "cheap"),
        ([pod_on("alone", "a"), pod_on("older", "b", hours=9), pod_on("younger", "b")], "younger"),
        ([pod_on("younger", "b"), pod_on("older", "b", hours=9), pod_on("alone", "a")], "younger"),
        ([pod_on("older", "a", hours=9), pod_on("younger", "b")], "younger"),
        ([pod_on("ready later", "a", hours=9, since=1), pod_on("younger", "b", hours=8)], "ready later"),
        ([pod_on("restarted", "a", restarts=1), pod_on("other", "b")], "restarted"),
        ([pod_on("restarted", "a", hours=9, restarts=1), pod_on("younger", "b")], "younger"),
        ([pod_on("p", "a", ready=False, hours=9), pod_on("q", "b", ready=False)], "q"),
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
        "ready",
        "restarts",
        "age-before-restarts",
        "age-of-pods-that-are-not-ready",
        "cost-that-is-no-number",
    ],
)
def test_the_first_that_is_deleted(pods: list[dict[str, Any]], first: str) -> None:
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": len(pods) - 1}}
    assert [each["metadata"]["name"] for each in replica_set(owner, pods, NOW).delete] == [first]


def test_pods_that_end_already_are_not_deleted_again() -> None:
    going = pod_on("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    assert replica_set(owner, [going, pod_on("stays")], NOW).delete == ()


def test_of_pods_that_are_about_as_long_ready_any_may_go() -> None:
    gone: set[str] = set()
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    for number in range(20):
        older, younger = (
            {**made, "metadata": {**made["metadata"], "uid": f"{made['metadata']['name']}-{number}"}}
            for made in (pod_on("older", "a", hours=1.6), pod_on("younger", "b", hours=1.3))
        )
        (first,) = replica_set(owner, [older, younger], NOW).delete
        assert replica_set(owner, [younger, older], NOW).delete == (first,)
        gone.add(first["metadata"]["name"])
    assert gone == {"older", "younger"}
