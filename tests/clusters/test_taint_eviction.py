"""Pods leave a Node whose NoExecute taint they do not tolerate. Tolerations for a time: tests/memory_cluster/test_taint_eviction.py."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import condition, is_terminating
from tests.clusters.subject import Subject
from tests.clusters.test_pods import ready_node

KEY = "example.com/maintenance"
TAINT = {"key": KEY, "effect": "NoExecute"}
FOREVER = {"key": KEY, "operator": "Exists", "effect": "NoExecute"}


def leaves(cluster: Subject, name: str) -> bool:
    pod = cluster.view.get("Pod", name, cluster.namespace)
    return pod is None or is_terminating(pod)


def taint(cluster: Subject, node: str) -> None:
    found = cluster.view.get("Node", node)
    assert found is not None
    kept = [each for each in found["spec"].get("taints") or () if each["key"] != KEY]
    cluster.admin.patch("Node", node, {"spec": {"taints": [*kept, TAINT]}})


@pytest.mark.smoke
def test_who_does_not_tolerate_it_is_deleted_gracefully(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    cluster.admin.create(cluster.pod("stays", nodeName=node, tolerations=[FOREVER]))
    cluster.admin.create(
        cluster.pod("stays-a-while", nodeName=node, tolerations=[{**FOREVER, "tolerationSeconds": 3600}])
    )
    cluster.admin.create(cluster.pod("goes", nodeName=node))
    cluster.step()
    taint(cluster, node)
    cluster.eventually(lambda: leaves(cluster, "goes"), "the pod to be deleted")
    pod = cluster.view.get("Pod", "goes", cluster.namespace)
    assert pod is not None
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    target = condition(pod, "DisruptionTarget")
    assert target is not None
    shown = {field: target[field] for field in ("status", "reason", "message")}
    message = "Taint manager: deleting due to NoExecute taint"
    assert shown == {"status": "True", "reason": "DeletionByTaintManager", "message": message}
    assert not leaves(cluster, "stays")
    assert not leaves(cluster, "stays-a-while")


TIMES: list[tuple[str, list[dict[str, Any]]]] = [
    ("none", [{**FOREVER, "tolerationSeconds": 0}]),
    ("less than none", [{**FOREVER, "tolerationSeconds": -5}]),
    ("of the first that tolerates", [{**FOREVER, "tolerationSeconds": 0}, FOREVER]),
]


@pytest.mark.parametrize("tolerations", [row[1] for row in TIMES], ids=[row[0] for row in TIMES])
def test_who_tolerates_it_for_no_time_goes_at_once(cluster: Subject, tolerations: list[dict[str, Any]]) -> None:
    node = ready_node(cluster, "n")
    cluster.admin.create(cluster.pod("p", nodeName=node, tolerations=tolerations))
    cluster.step()
    taint(cluster, node)
    cluster.eventually(lambda: leaves(cluster, "p"), "the pod to be deleted")
