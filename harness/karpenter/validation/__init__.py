"""Validation of NodePools, NodeClaims, AKSNodeClasses, NodeOverlays and pods: each verdict with the layer that gives it."""

from harness.karpenter.validation.admission import Admission, Crds, UnknownResource, admit
from harness.karpenter.validation.crds import CrdSet, RuleRow, UnknownCrdSet, crd_set, crd_sets
from harness.karpenter.validation.hashing import nodepool_hash
from harness.karpenter.validation.pods import validate_pod
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.karpenter.validation.runtime import runtime_validate

__all__ = [
    "Admission",
    "CrdSet",
    "Crds",
    "Rejection",
    "RejectionLayer",
    "RuleRow",
    "UnknownCrdSet",
    "UnknownResource",
    "admit",
    "crd_set",
    "crd_sets",
    "nodepool_hash",
    "runtime_validate",
    "validate_pod",
]
