"""The state of a zone by the readiness of its Nodes, and how many Nodes of it are tainted a second so that their pods go.

Source: kubernetes 1.36 pkg/controller/nodelifecycle/node_lifecycle_controller.go (ComputeZoneState, setLimiterInZone, ReducedQPSFunc),
cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (the defaults of the flags), k8s.io/component-helpers
node/topology/helpers.go (GetZoneKey).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from harness.kube.api.labels import BETA_REGION, BETA_ZONE, REGION, ZONE

__all__ = ["EXCLUDED", "ZoneState", "eviction_rate", "zone_key", "zone_state"]

EXCLUDED = "node.kubernetes.io/exclude-disruption"
"""The label of Nodes that do not count for their zone."""

_RATE = 0.1
"""--node-eviction-rate, in Nodes per second."""
_SECONDARY_RATE = 0.01
"""--secondary-node-eviction-rate, of an unhealthy zone that is large."""
_LARGE = 50
"""--large-cluster-size-threshold: a zone of so many Nodes is not large yet."""
_UNHEALTHY, _TWENTIETHS = 11, 20
"""--unhealthy-zone-threshold: 0.55 of a zone's Nodes. Upstream's quotients of float32 keep to that below 2^21 Nodes."""
_FEW = 2
"""So many Nodes that are not ready never make a zone unhealthy, unless they are all."""


class ZoneState(StrEnum):
    """The state of a zone, by upstream's words."""

    INITIAL = "Initial"
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"


def zone_key(labels: Mapping[str, str]) -> tuple[str, str]:
    """Return region and zone of a Node with these labels; the beta ones go first, both are empty without any."""
    region, zone = labels.get(BETA_REGION), labels.get(BETA_ZONE)
    return labels.get(REGION, "") if region is None else region, labels.get(ZONE, "") if zone is None else zone


def zone_state(ready: int, not_ready: int) -> ZoneState:
    """Return the state of a zone with so many Nodes that are ready, and that are not."""
    if not ready and not_ready:
        return ZoneState.FULL_DISRUPTION
    if not_ready > _FEW and _TWENTIETHS * not_ready >= _UNHEALTHY * (ready + not_ready):
        return ZoneState.PARTIAL_DISRUPTION
    return ZoneState.NORMAL


def eviction_rate(state: ZoneState, nodes: int) -> float:
    """Return how many Nodes of a zone of so many are tainted a second, as long as a Node of any zone is ready."""
    if state is not ZoneState.PARTIAL_DISRUPTION:
        return _RATE
    return _SECONDARY_RATE if nodes > _LARGE else 0.0
