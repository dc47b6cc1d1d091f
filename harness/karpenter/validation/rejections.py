"""The origin of a refusal, and the place of its cause."""

from __future__ import annotations

from enum import StrEnum

from harness.kube.api.field_errors import Pointer
from harness.kube.api.kinds import KINDS
from lazyrecords import dataclass


class RejectionLayer(StrEnum):
    """The refusing parties, in the order in which an object meets them."""

    API_SERVER = "api-server"
    """The API server, about an object that no CRD is about: its shape, validation, admission plugins."""
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


def schema_layer(kind: str) -> RejectionLayer:
    """Return the layer that judges the shape of objects of a kind: the CRD's schema where a CRD defines it."""
    definition = KINDS.get(kind)
    return RejectionLayer.CRD_SCHEMA if definition is not None and definition.custom else RejectionLayer.API_SERVER
