"""The provisioning simulation: pods, NodePools, instance types and nodes in, NodeClaims and placements out.

:func:`solve` is one pass of Karpenter's provisioner.
"""

from harness.karpenter.scheduling.catalog import CatalogIndexes
from harness.karpenter.scheduling.equal_prices import EqualPrices
from harness.karpenter.scheduling.nodeclaims.planned import (
    PlannedNodeClaim,
    SchedulingEvent,
    SchedulingResults,
    pod_key,
)
from harness.karpenter.scheduling.reasons.pods import is_deferred
from harness.karpenter.scheduling.simulation import solve
from harness.karpenter.scheduling.snapshot import ClusterSnapshot, SchedulingOptions
from harness.karpenter.scheduling.topology.group import TopologyError

__all__ = [
    "CatalogIndexes",
    "ClusterSnapshot",
    "EqualPrices",
    "PlannedNodeClaim",
    "SchedulingEvent",
    "SchedulingOptions",
    "SchedulingResults",
    "TopologyError",
    "is_deferred",
    "pod_key",
    "solve",
]
