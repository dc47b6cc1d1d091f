"""Where a DaemonSet's pods are made, and where those that are there stay.

Source: kubernetes pkg/controller/daemon/daemon_controller.go (podsShouldBeOnNode, NodeShouldRunDaemonPod).
"""

from typing import Any

import pytest

from harness.kube.workloads import daemon_set
from harness.testing import daemonset, deployment, nodeclass, nodepool
from harness.world import World

DAEMONS: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent", "namespace": "default", "uid": "agent"},
    "spec": {
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            "spec": {"nodeSelector": {"os": "linux"}, "containers": []},
        }
    },
}
POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "agent-x", "namespace": "default"},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Running"},
}
OWN = {"key": "team", "value": "a"}
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "made", "stays"),
    [
        ([], True, True),
        ([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], True, True),
        ([{**OWN, "effect": "PreferNoSchedule"}], True, True),
        ([DISRUPTED], False, True),
        ([{**OWN, "effect": "NoSchedule"}], False, True),
        ([{**OWN, "effect": "NoExecute"}], False, False),
        ([DISRUPTED, {**OWN, "effect": "NoExecute"}], False, False),
        ([{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}], True, True),
    ],
)
@pytest.mark.parametrize("going", [False, True], ids=["there", "being-deleted"])
def test_taints(taints: list[dict[str, str]], made: bool, stays: bool, going: bool) -> None:
    meta: dict[str, Any] = {"name": "n", "labels": {"os": "linux"}}
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    node = {"kind": "Node", "metadata": meta, "spec": {"taints": taints}}
    assert bool(daemon_set(DAEMONS, [], [node]).create) is made
    assert (not daemon_set(DAEMONS, [POD], [node]).delete) is stays


def test_a_node_that_is_not_selected_any_more_has_its_pod_taken() -> None:
    node = {"kind": "Node", "metadata": {"name": "n", "labels": {"os": "windows"}}, "spec": {}}
    plan = daemon_set(DAEMONS, [POD], [node])
    assert (plan.create, plan.delete) == ((), (POD,))


def test_the_pod_of_a_node_that_is_gone_is_deleted() -> None:
    assert daemon_set(DAEMONS, [POD], []).delete == (POD,)


def test_while_a_node_waits_for_its_replacement_its_daemons_run_and_the_drain_evicts_them() -> None:
    world = World()
    world.apply(nodeclass(), nodepool(), daemonset(name="agent"), deployment(name="web", replicas=1))
    world.settle()
    (before,) = world.list("Node")
    pool = nodepool()
    pool["spec"]["template"].setdefault("metadata", {})["labels"] = {"team": "blue"}
    world.apply(pool)
    daemons: list[int] = []
    for _ in range(60):
        world.advance(10)
        (*old,) = (each for each in world.list("Node") if each["metadata"]["name"] == before["metadata"]["name"])
        if old and any(each["key"] == "karpenter.sh/disrupted" for each in old[0]["spec"].get("taints") or ()):
            pods = [each for each in world.list("Pod") if each["spec"].get("nodeName") == before["metadata"]["name"]]
            daemons.append(sum(each["metadata"]["name"].startswith("agent") for each in pods))
    assert daemons
    assert daemons[0] == 1
    evicted = [
        each
        for each in world.events
        if each.reason == "Evicted" and (each.object.kind, each.object.name[:5]) == ("Pod", "agent")
    ]
    assert len(evicted) == 1
