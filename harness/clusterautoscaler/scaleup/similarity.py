"""Node groups that are so much alike that the autoscaler balances their sizes.

Sources: autoscaler processors/nodegroupset/compare_nodegroups.go, azure_nodegroups.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.clusterautoscaler.amounts import milli
from harness.kube.api.labels import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from harness.kube.api.objects import status_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["are_similar"]

_POOL = ("kubernetes.azure.com/agentpool", "agentpool")
_IGNORED = frozenset(
    {
        *(HOSTNAME, BETA_ZONE, BETA_REGION, ZONE, REGION, *_POOL),
        *("topology.disk.csi.azure.com/zone", "kubernetes.azure.com/node-image-version"),
        *("aksEngineVersion", "creationSource", "poolName", "resourceNameSuffix"),
        *("kubernetes.azure.com/consolidated-additional-properties", "beta.kubernetes.io/fluentd-ds-ready"),
        "kops.k8s.io/instancegroup",
    }
)
_MEMORY_RATIO = 0.015
_ALLOCATABLE_RATIO = _FREE_RATIO = 0.05


def are_similar(some: NodeInfo, other: NodeInfo) -> bool:
    """Return whether the groups of two template nodes are alike: of one agent pool, or with equal labels and sizes."""
    if any(some.labels.get(key) and some.labels.get(key) == other.labels.get(key) for key in _POOL):
        return True
    return _same_capacity(some, other) and _near_amounts(some, other) and _same_labels(some, other)


def _same_capacity(some: NodeInfo, other: NodeInfo) -> bool:
    capacities = [parse_list(status_of(info.node).get("capacity")) for info in (some, other)]
    if capacities[0].keys() != capacities[1].keys():
        return False
    return all(
        _within(quantity, capacities[1][name], _MEMORY_RATIO if name == "memory" else 0.0)
        for name, quantity in capacities[0].items()
    )


def _near_amounts(some: NodeInfo, other: NodeInfo) -> bool:
    if some.allocatable.keys() != other.allocatable.keys():
        return False
    free, other_free = _free(some), _free(other)
    return (
        _all_within(some.allocatable, other.allocatable, _ALLOCATABLE_RATIO)
        and free.keys() == other_free.keys()
        and _all_within(free, other_free, _FREE_RATIO)
    )


def _free(info: NodeInfo) -> Mapping[str, Quantity]:
    """Return what pods leave of each resource that the scheduler counts on the node."""
    zero = Quantity.parse("0")
    names = {"cpu", "memory", "ephemeral-storage", *info.requested}
    free = {}
    for name in names:
        taken = info.requested.get(name, zero)
        free[name] = Quantity(info.allocatable.get(name, zero).nano - taken.nano)
    return free


def _same_labels(some: NodeInfo, other: NodeInfo) -> bool:
    return _compared(some.labels.items()) == _compared(other.labels.items())


def _compared(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: value for key, value in labels if key not in _IGNORED}


def _all_within(some: Mapping[str, Quantity], other: Mapping[str, Quantity], ratio: float) -> bool:
    return all(_within(quantity, other[name], ratio) for name, quantity in some.items())


def _within(some: Quantity, other: Quantity, ratio: float) -> bool:
    if not ratio:
        return some == other
    larger, smaller = max(milli(some), milli(other)), min(milli(some), milli(other))
    return larger - smaller <= larger * ratio
