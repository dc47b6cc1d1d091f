"""What the pods of an agent pool ask for, and the names that a cluster has given already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from harness.kube.api.objects import Object, name_of, spec_of
from harness.kube.scheduling.pods import is_daemon, pod_requests
from harness.migrate.proposing.nodepools import Demand
from harness.migrate.reading.nodes import pool_of

__all__ = ["demands_of", "taken_names"]

_MIB = 1 << 20
_KINDS = ("NodePool", "AKSNodeClass")


def demands_of(objects: Iterable[Object]) -> Mapping[str, Demand]:
    """Return for each agent pool the most that one pod on its Nodes asks for, DaemonSets' pods apart."""
    everything = list(objects)
    pools = {name_of(obj): pool_of(obj) for obj in everything if obj["kind"] == "Node"}
    found: dict[str, Demand] = {}
    for pod in everything:
        pool = pools.get(str(spec_of(pod).get("nodeName") or ""), "") if pod["kind"] == "Pod" else ""
        if not pool or is_daemon(pod):
            continue
        asked, before = pod_requests(pod), found.get(pool, Demand())
        cpu = ceil(asked["cpu"].value()) if "cpu" in asked else 0
        memory = ceil(asked["memory"].value() / _MIB) if "memory" in asked else 0
        found[pool] = Demand(max(before.vcpus, cpu), max(before.memory_mib, memory))
    return found


def taken_names(objects: Iterable[Object]) -> frozenset[str]:
    """Return the names of NodePools and AKSNodeClasses."""
    return frozenset(name_of(obj) for obj in objects if obj["kind"] in _KINDS)
