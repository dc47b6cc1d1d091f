"""Where a "no" comes from, and how it points at the cause."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.kube.api.field_errors import Pointer
from harness.kube.api.kinds import KINDS


class RejectionLayer(StrEnum):
    """Who refuses, in the order in which an object meets them."""

    CRD_SCHEMA = "crd-schema"
    """The API server, for what the CRD's schema (or metadata validation) says."""
    CRD_CEL = "crd-cel"
    """The API server, for a CRD's rule on a NodePool, AKSNodeClass or NodeOverlay."""
    NODEPOOL_RUNTIME = "nodepool-runtime"
    """Karpenter's validation of a stored NodePool."""
    NODEPOOL_FILTER = "nodepool-filter"
    """Karpenter's scheduler, when no instance type is left."""
    POD = "pod"
    """Karpenter's validation of a pending pod."""
    NODECLAIM_CEL = "nodeclaim-cel"
    """The API server, for a CRD's rule on a NodeClaim."""
    LAUNCH = "launch"
    """The cloud provider."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One reason why an object is refused.

    ``object`` is ``Kind/name``, ``path`` the field as the refusing side prints it, ``key`` the label key at fault if one is,
    ``rule`` our identifier, ``message`` the reason alone, ``text`` the line with path and value as printed, and ``pointer`` the
    place in the user's object (its last part may be a key that is missing there).
    """

    layer: RejectionLayer
    object: str
    path: str
    key: str | None
    rule: str
    message: str
    text: str
    pointer: Pointer

    @property
    def by(self) -> str:
        """The layer as people are told it: `api-server` for refusals of objects that no CRD is about."""
        kind = KINDS.get(self.object.partition("/")[0])
        built_in = kind is not None and not kind.custom
        return "api-server" if built_in and self.layer is RejectionLayer.CRD_SCHEMA else str(self.layer)
