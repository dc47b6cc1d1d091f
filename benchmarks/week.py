"""A simulated week of a cluster with daily deploys: CPU seconds, steps, turns of the disruption controller.

python -m benchmarks.week [NODES]
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

from harness.world import World

_DAY = 86_400.0


def deployment(name: str, replicas: int, version: int) -> dict[str, Any]:
    """A Deployment whose pods take about half of a small node each."""
    labels = {"app": name}
    container = {"name": "c", "image": f"app:{version}", "resources": {"requests": {"cpu": "900m", "memory": "2Gi"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": {**labels, "version": str(version)}},
                "spec": {"containers": [container]},
            },
        },
    }


def week(nodes: int) -> dict[str, float]:
    """Runs it, and answers what it took."""
    world = World()
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5", "Standard_D4s_v5"]},
    ]
    world.apply(
        {
            "apiVersion": "karpenter.azure.com/v1beta1",
            "kind": "AKSNodeClass",
            "metadata": {"name": "default"},
            "spec": {},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {
                "disruption": {"consolidateAfter": "5m"},
                "template": {"spec": {"nodeClassRef": reference, "requirements": requirements}},
            },
        },
    )
    apps = 10
    for number in range(apps):
        world.apply(deployment(f"app{number}", 4 * nodes // apps, 0))
    start = process_time()
    steps = world.settle().steps
    up = len(world.list("Node"))
    for day in range(7):
        world.apply(deployment(f"app{day % apps}", 4 * nodes // apps, day + 1))
        steps += world.advance(_DAY).steps
    return {
        "nodes": up,
        "cpu_seconds": round(process_time() - start, 2),
        "steps": steps,
        "disruptions": len(world.disruptions),
        "nodes_at_the_end": len(world.list("Node")),
    }


if __name__ == "__main__":
    print(week(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
