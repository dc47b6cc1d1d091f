"""A simulated week of a cluster: daily deploys, quiet nights, spot evictions, a changed template. CPU seconds, steps, what left and why.

python -m benchmarks.week [NODES]
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import process_time
from typing import Any

from harness import garbage
from harness.world import World

_HOUR = 3600.0
_APPS = 10
_PODS = 10  # of a node
_SPOT = "spot"


def _deployment(name: str, replicas: int, version: int) -> dict[str, Any]:
    """A Deployment whose pods take about a tenth of a node each."""
    labels = {"app": name}
    container = {"name": "c", "image": f"app:{version}", "resources": {"requests": {"cpu": "350m", "memory": "1Gi"}}}
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


def _nodepool(turn: int) -> dict[str, Any]:
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5", "Standard_D4s_v5"]},
    ]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "disruption": {"consolidateAfter": "5m"},
            "template": {
                "metadata": {"labels": {"turn": str(turn)}},
                "spec": {"nodeClassRef": reference, "requirements": requirements},
            },
        },
    }


def _nodeclass() -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {},
    }


def _evict(world: World, count: int) -> int:
    """Azure evicts some spot machines. Returns how many."""
    view = world.cluster.view.list("Node")
    spot = [
        node["metadata"]["name"]
        for node in view
        if node["metadata"]["labels"].get("karpenter.sh/capacity-type") == _SPOT
    ]
    for name in spot[:count]:
        world.evict(name)
    return len(spot[:count])


def week(nodes: int) -> dict[str, Any]:
    """Runs it, and returns what it took.

    Each day one of ten apps is deployed anew, another has half of its pods for the night, and Azure takes one machine in fifty. In the
    middle of the week the template changes, so that all nodes drift. As in `harness simulate`, nobody looks for garbage meanwhile.
    """
    with garbage.NothingToFind():
        return _pass(World(), nodes)


def _pass(world: World, nodes: int) -> dict[str, Any]:
    world.apply(_nodeclass(), _nodepool(0))
    replicas = _PODS * nodes // _APPS
    versions = dict.fromkeys(range(_APPS), 0)

    def scale(app: int, count: int) -> None:
        world.apply(_deployment(f"app{app}", count, versions[app]))

    start = process_time()
    for app in versions:
        scale(app, replicas)
    steps, evicted = world.settle().steps, 0
    up = len(world.list("Node"))
    for day in range(7):
        versions[day] = day + 1
        world.apply(_deployment(f"app{day}", replicas, day + 1))
        if day == 3:
            world.apply(_nodepool(1))
        steps += world.advance(4 * _HOUR).steps
        evicted += _evict(world, max(1, nodes // 50))
        steps += world.advance(8 * _HOUR).steps
        scale(day + 1, replicas // 2)
        steps += world.advance(12 * _HOUR).steps
        scale(day + 1, replicas)
    steps += world.advance(_HOUR).steps
    reasons = Counter(each.reason for each in world.disruptions if not each.problem)
    gone = sum(len(each.nodes) for each in world.disruptions if not each.problem)
    return {
        "nodes": up,
        "pods": replicas * _APPS,
        "cpu_seconds": round(process_time() - start, 2),
        "steps": steps,
        "evicted": evicted,
        "decisions": dict(reasons),
        "nodes_disrupted": gone,
        "nodes_at_the_end": len(world.list("Node")),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.week", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("nodes", type=int, nargs="?", default=100, metavar="NODES", help="about how many (default 100)")
    with garbage.NothingToFind():
        print(week(parser.parse_args().nodes))
    garbage.keep()  # nor does anybody when the process ends
