"""Requests of an agent pool's pods, and the names that a cluster has given already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from harness.karpenter.labels.azure import GROUP
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import Object, labels_of, mapping_in, name_of, spec_of
from harness.kube.scheduling.pods import is_daemon, pod_requests
from harness.migrate.proposing.nodepools import Demand
from harness.migrate.reading.nodes import pool_of

__all__ = ["demands_of", "taken_names"]

_MIB = 1 << 20
_KINDS = ("NodePool", "AKSNodeClass")
_MADE = ("Node", "NodeClaim")
_NODECLASS = f"{GROUP}/aksnodeclass"


def demands_of(objects: Iterable[Object]) -> Mapping[str, Demand]:
    """Return for each agent pool the most that one pod on its Nodes asks for, DaemonSets' pods apart."""
    everything = list(objects)
    pools = {name_of(obj): pool_of(obj) for obj in everything if obj["kind"] == "Node"}
    demands: dict[str, Demand] = {}
    for pod in everything:
        pool = pools.get(str(spec_of(pod).get("nodeName") or ""), "") if pod["kind"] == "Pod" else ""
        if not pool or is_daemon(pod):
            continue
        requests, before = pod_requests(pod), demands.get(pool, Demand())
        cpu = ceil(requests["cpu"].value()) if "cpu" in requests else 0
        memory = ceil(requests["memory"].value() / _MIB) if "memory" in requests else 0
        demands[pool] = Demand(max(before.vcpus, cpu), max(before.memory_mib, memory))
    return demands


def taken_names(objects: Iterable[Object]) -> frozenset[str]:
    """Return the names of NodePools and AKSNodeClasses, also of those that only what was made of them tells."""
    return frozenset(name for obj in objects for name in _names(obj) if name)


def _names(obj: Object) -> Iterator[str]:
    if obj["kind"] in _KINDS:
        yield name_of(obj)
    if obj["kind"] in _MADE:
        yield from (labels_of(obj).get(label, "") for label in (NODEPOOL, _NODECLASS))
    spec = spec_of(obj)
    place = mapping_in(mapping_in(spec.get("template")).get("spec")) if obj["kind"] == "NodePool" else spec
    yield str(mapping_in(place.get("nodeClassRef")).get("name") or "")
