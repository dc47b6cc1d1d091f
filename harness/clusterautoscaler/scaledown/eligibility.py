"""Nodes that may be unneeded at all, because little enough of them is requested.

Source: autoscaler core/scaledown/eligibility/eligibility.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.unremovable import UnremovableReason
from harness.clusterautoscaler.scaledown.utilization import Utilization, utilization_of
from harness.clusterautoscaler.taints import is_being_deleted
from harness.engine.clock import EPOCH, SECOND
from harness.kube.api.objects import Object, annotations_of
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["eligibility", "is_scale_down_disabled"]

_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_EPOCH_UNIX = EPOCH.timestamp()


def is_scale_down_disabled(node: Object) -> bool:
    """Return whether a node's annotation keeps it (HasNoScaleDownAnnotation)."""
    return annotations_of(node).get(_DISABLED) == "true"


def eligibility(info: NodeInfo, profile: Profile, now: int) -> tuple[UnremovableReason | None, Utilization | None]:
    """Return why a node is needed, None where it may be unneeded, and how much of it is requested."""
    if is_being_deleted(info.node, _EPOCH_UNIX + now / SECOND):
        return UnremovableReason.BEING_DELETED, None
    if is_scale_down_disabled(info.node):
        return UnremovableReason.SCALE_DOWN_DISABLED, None
    utilization = utilization_of(info, profile, now)
    if utilization is None:
        return UnremovableReason.UNEXPECTED, None
    if utilization.value > profile.scale_down_utilization_threshold:
        return UnremovableReason.NOT_UNDERUTILIZED, utilization
    return None, utilization
