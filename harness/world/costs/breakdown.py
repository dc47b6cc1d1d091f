"""The breakdown of costs: USD per hour by NodePool, and by workload, each with its share of a machine by the requests of its pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import Object, labels_of, name_of, spec_of, status_of
from harness.kube.api.owners import workload_of
from harness.kube.api.resources import ResourceList, parse_list
from harness.kube.scheduling.pods import pod_requests
from harness.world import World
from harness.world.costs.prices import machine_prices

__all__ = ["Breakdown", "breakdown"]

_SHARED = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Breakdown:
    """USD per hour. `idle`: the unrequested part, by the mean of CPU and memory; Nodes without allocatable amounts are idle as a whole."""

    nodepools: Mapping[str, float]
    workloads: Mapping[str, float]
    idle: float


def breakdown(world: World) -> Breakdown:
    """Return the price of all Nodes with a price, divided."""
    prices = machine_prices(world)
    nodepools: dict[str, float] = {}
    workloads: dict[str, float] = {}
    idle = 0.0
    pods: dict[str, list[Object]] = {}
    for pod in world.view.list("Pod"):  # read only: copies of all pods would be as large as they are
        pods.setdefault(str(spec_of(pod).get("nodeName") or ""), []).append(pod)
    for node in world.view.list("Node"):
        price = prices.get(name_of(node))
        if price is None or price.usd is None:
            continue
        pool = labels_of(node).get(NODEPOOL, "")
        nodepools[pool] = nodepools.get(pool, 0.0) + price.usd
        left, room = price.usd, parse_list(status_of(node).get("allocatable"))
        for pod in pods.get(name_of(node), ()):
            share = price.usd * _share(pod_requests(pod), room)
            workload = str(workload_of(pod))
            workloads[workload] = workloads.get(workload, 0.0) + share
            left -= share
        idle += max(left, 0.0)
    return Breakdown(nodepools, workloads, idle)


def _share(requests: ResourceList, room: ResourceList) -> float:
    """Return the part of a machine that a pod requests: the mean of CPU and memory, 0 of a Node without these amounts."""
    parts = [
        min(requests[name].nano / room[name].nano, 1.0) if name in requests and room[name].nano > 0 else 0.0
        for name in _SHARED
        if name in room
    ]
    return sum(parts) / len(parts) if parts else 0.0
