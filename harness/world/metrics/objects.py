"""The gauges of each Node and each pod, and of the unrequested resources of all Nodes.

Core ``pkg/controllers/metrics/{node,pod}/controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.engine.clock import SECOND
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, ZONE
from harness.kube.api.objects import (
    Object,
    condition_is,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owners_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import ResourceList, merge, parse_list, subtract
from harness.kube.scheduling.pods import is_daemon, is_terminal, limits_for_pods, requests_for_pods
from harness.world.metrics.samples import Sample, resource_claim_labels, seconds_since

if TYPE_CHECKING:
    from harness.world.observations import Observations

__all__ = ["OBJECT_FAMILIES", "PER_OBJECT", "object_samples", "resource_name", "resource_number"]

_NODES, _PODS, _UTILIZATION = "karpenter_nodes_", "karpenter_pods_", "karpenter_cluster_utilization_percent"
_OF_PODS = (
    "state",
    "unbound_time_seconds",
    "unstarted_time_seconds",
    "provisioning_unbound_time_seconds",
    "provisioning_unstarted_time_seconds",
    "provisioning_scheduling_undecided_time_seconds",
)
_OF_NODES = (
    "allocatable",
    "total_pod_requests",
    "total_pod_limits",
    "total_daemon_requests",
    "total_daemon_limits",
    "system_overhead",
    "current_lifetime_seconds",
)
PER_OBJECT = (*(f"{_NODES}{name}" for name in _OF_NODES), *(f"{_PODS}{name}" for name in _OF_PODS))
"""The metrics that have series of their own for each Node or pod."""
OBJECT_FAMILIES: Mapping[str, str] = dict.fromkeys((_UTILIZATION, *PER_OBJECT), "gauge")
"""The metrics, and their type."""


def object_samples(world: Observations) -> Iterator[Sample]:
    """All series, as the objects are."""
    nodes = [node for node in world.karpenter.disruption_view().nodes if node.node is not None]
    yield from _utilization(nodes)
    for node in nodes:
        yield from _of_node(world, node)
    placed = {name_of(node): labels_of(node) for node in world.list("Node")}
    for pod in world.list("Pod"):
        yield from _of_pod(world, pod, placed)


def resource_name(name: str) -> str:
    """A resource as a label's value has it."""
    return name.lower().replace("-", "_")


def resource_number(name: str, amount: Quantity) -> float:
    """Return CPUs in thousandths, everything else in whole units, rounded up."""
    return -(-amount.nano * 1000 // NANO) / 1000 if name == "cpu" else float(amount.value())


def _utilization(nodes: list[StateNode]) -> Iterator[Sample]:
    there = merge(*(node.allocatable() for node in nodes))
    used = merge(*(requests_for_pods(node.pods) for node in nodes))
    for name, amount in sorted(there.items()):
        if amount.value() != 0:
            share = resource_number(name, used.get(name, Quantity(0))) / resource_number(name, amount)
            yield Sample(_UTILIZATION, {"resource_type": resource_name(name)}, 100 * share)


def _of_node(world: Observations, state: StateNode) -> Iterator[Sample]:
    node: Object = state.node or {}
    status = {name: parse_list(status_of(node).get(name)) for name in ("capacity", "allocatable")}
    daemons = [pod for pod in state.pods if is_daemon(pod)]
    lists: Mapping[str, ResourceList] = {
        "allocatable": status["allocatable"],
        "total_pod_requests": requests_for_pods(state.pods) if state.pods else {},
        "total_pod_limits": limits_for_pods(state.pods) if state.pods else {},
        "total_daemon_requests": state.daemon_requests(),
        "total_daemon_limits": limits_for_pods(daemons) if daemons else {},
        "system_overhead": subtract(status["capacity"], status["allocatable"]),
    }
    own = _node_labels(world, state, node)
    for metric, amounts in lists.items():
        for name, amount in sorted(amounts.items()):
            labels = dict(sorted({**own, "resource_type": resource_name(name)}.items()))
            yield Sample(f"{_NODES}{metric}", labels, resource_number(name, amount))
    yield Sample(f"{_NODES}current_lifetime_seconds", own, _age(world, node))


def _node_labels(world: Observations, state: StateNode, node: Object) -> dict[str, str]:
    """Return the well-known labels by their names alone. Where two have the same name Go takes either: here the one that is set."""
    own: dict[str, str] = {"node_name": name_of(node), "phase": str(status_of(node).get("phase") or "")}
    if world.release.core.managed_in_metrics:
        own["managed"] = str(state.managed).lower()
    for key in sorted(world.release.vocabulary.well_known):
        _, slash, name = key.partition("/")
        if slash:
            name = name.lower().replace("-", "_")
            own[name] = own.get(name) or str(labels_of(node).get(key) or "")
    return dict(sorted(own.items()))


def _of_pod(world: Observations, pod: Object, placed: Mapping[str, Mapping[str, str]]) -> Iterator[Sample]:
    place = str(spec_of(pod).get("nodeName") or "")
    node, phase = placed.get(place, {}), str(status_of(pod).get("phase") or "")
    names = {"name": name_of(pod), "namespace": namespace_of(pod)}
    labels = {
        **names,
        "owner": _owner(pod),
        "node": place,
        "scheduled": str(bool(place)).lower(),
        "nodepool": node.get(NODEPOOL, ""),
        "zone": node.get(ZONE, ""),
        "arch": node.get(ARCH, ""),
        "capacity_type": node.get(CAPACITY_TYPE, ""),
        "instance_type": node.get(INSTANCE_TYPE, ""),
        "phase": phase,
    }
    if world.release.core.readiness_in_metrics:
        labels["ready"] = str(condition_is(pod, "Ready")).lower()
    if world.release.core.managed_in_metrics:
        labels["managed"] = str(NODEPOOL in node).lower()
    yield Sample(f"{_PODS}state", dict(sorted(labels.items())), 1)
    unbound = phase == "Pending" and not condition_is(pod, "PodScheduled")
    unstarted = phase == "Pending" or not (condition_is(pod, "Ready") or is_terminal(pod))
    by_claims = names | resource_claim_labels(world.release.core, pod)
    if unbound:
        yield Sample(f"{_PODS}unbound_time_seconds", by_claims, _age(world, pod))
    if unstarted:
        yield Sample(f"{_PODS}unstarted_time_seconds", names, _age(world, pod))
    taken = world.karpenter.taken_up.get(uid_of(pod))
    if taken is None:
        return
    if taken.decided is None and not condition_is(pod, "PodScheduled"):
        seconds = (world.clock.now - taken.seen) / SECOND
        yield Sample(f"{_PODS}provisioning_scheduling_undecided_time_seconds", names, seconds)
    for waits, metric, own in ((unbound, "unbound", by_claims), (unstarted, "unstarted", names)):
        if waits and taken.placed is not None:
            seconds = (world.clock.now - taken.placed) / SECOND
            yield Sample(f"{_PODS}provisioning_{metric}_time_seconds", own, seconds)


def _owner(pod: Object) -> str:
    """Return the text that once was the owner's selfLink; all kinds end in an s there."""
    for owner in owners_of(pod):
        return (
            f"/apis/{owner['apiVersion']}/namespaces/{namespace_of(pod)}/{str(owner['kind']).lower()}s/{owner['name']}"
        )
    return ""


def _age(world: Observations, obj: Object) -> float:
    return seconds_since(metadata_of(obj)["creationTimestamp"], world.clock.now)
