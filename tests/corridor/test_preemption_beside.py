"""A pod that fits a node alone, but not beside a pod for which others are to leave it, is judged with that one."""

from __future__ import annotations

from typing import Any

from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World


def of_class(name: str, replicas: int, cpu: str, priority: str) -> dict[str, Any]:
    return dict(deployment(name, replicas=replicas, cpu=cpu, memory="100Mi", priorityClassName=priority))


def test_two_pods_preempt_on_one_node() -> None:
    world = World(karpenter="1.14.0")
    pool = dict(nodepool(requirement("node.kubernetes.io/instance-type", "Standard_D4s_v5"), limits={"cpu": "4"}))
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("low", 1), ("high", 100))
    ]
    world.apply(nodeclass(), pool, *classes, of_class("low", 3, "1", "low"))
    world.settle()
    world.apply(of_class("a", 1, "1", "high"), of_class("b", 1, "500m", "high"))
    world.settle()
    world.advance(100)
    bound = {pod["metadata"]["labels"]["app"] for pod in world.list("Pod") if pod["spec"].get("nodeName")}
    waiting = [pod for pod in world.list("Pod") if not pod["spec"].get("nodeName")]
    assert bound == {"a", "b", "low"}
    assert [pod["metadata"]["labels"]["app"] for pod in waiting] == ["low"]
