"""Which taints a node has for its conditions and for being cordoned.

Source: kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go (doNoScheduleTaintingPass, processTaintBaseEviction).
"""

from typing import Any

import pytest

from harness.testing import node
from tests.memory_cluster.conftest import Cluster

NO_SCHEDULE = {"effect": "NoSchedule"}
READY = {"type": "Ready", "status": "True"}


def taints(cluster: Cluster) -> list[tuple[str, str]]:
    found = cluster.view.get("Node", "n")
    assert found is not None
    return [(taint["key"].rpartition("/")[2], taint["effect"]) for taint in found["spec"].get("taints") or ()]


def make(cluster: Cluster, *conditions: dict[str, str], **spec: Any) -> None:
    """Make Node n, beside another that is ready."""
    other = node("other")
    other["status"] = {**other.get("status", {}), "conditions": [READY]}
    cluster.admin.create(other)
    made = node("n")
    made["spec"] = {**made.get("spec", {}), **spec}
    made["status"] = {**made.get("status", {}), "conditions": [*conditions]}
    cluster.admin.create(made)
    cluster.settle()


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([READY], []),
        ([], [("not-ready", "NoSchedule")]),
        ([{"type": "Ready", "status": "False"}], [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]),
        ([{"type": "Ready", "status": "Unknown"}], [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]),
        ([READY, {"type": "MemoryPressure", "status": "True"}], [("memory-pressure", "NoSchedule")]),
        ([READY, {"type": "DiskPressure", "status": "True"}], [("disk-pressure", "NoSchedule")]),
        ([READY, {"type": "PIDPressure", "status": "True"}], [("pid-pressure", "NoSchedule")]),
        ([READY, {"type": "NetworkUnavailable", "status": "True"}], [("network-unavailable", "NoSchedule")]),
        ([READY, {"type": "MemoryPressure", "status": "Unknown"}], []),
    ],
)
def test_a_condition_brings_its_taints(
    cluster: Cluster, conditions: list[dict[str, str]], expected: list[tuple[str, str]]
) -> None:
    make(cluster, *conditions)
    assert sorted(taints(cluster)) == sorted(expected)


def test_a_cordoned_node_is_tainted_until_it_is_uncordoned(cluster: Cluster) -> None:
    own = {"key": "example.com/mine", "effect": "NoSchedule"}
    make(cluster, READY, taints=[own])
    cluster.admin.patch("Node", "n", {"spec": {"unschedulable": True}})
    cluster.settle()
    assert taints(cluster) == [("mine", "NoSchedule"), ("unschedulable", "NoSchedule")]
    cluster.admin.patch("Node", "n", {"spec": {"unschedulable": None}})
    cluster.settle()
    assert taints(cluster) == [("mine", "NoSchedule")]


def test_a_node_that_begins_cordoned_is_tainted(cluster: Cluster) -> None:
    make(cluster, READY, unschedulable=True)
    assert taints(cluster) == [("unschedulable", "NoSchedule")]
