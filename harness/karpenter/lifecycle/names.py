"""The connections between NodeClaims, Nodes and NodePools, and the taints that are only there while a node starts.

Sources: core pkg/apis/v1/{labels,taints}.go, pkg/utils/{nodeclaim,node}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.ports import View
from harness.karpenter.labels import azure
from harness.karpenter.labels.core import NODEPOOL, UNREGISTERED_TAINT
from harness.karpenter.releases import CoreRelease
from harness.kube.api.labels import NOT_READY, UNINITIALIZED, UNREACHABLE
from harness.kube.api.objects import Object, metadata_of, spec_of, status_of

_EPHEMERAL = frozenset(
    {
        (NOT_READY, "NoSchedule"),
        (UNREACHABLE, "NoSchedule"),
        (UNINITIALIZED, "NoSchedule"),
        (UNREGISTERED_TAINT["key"], UNREGISTERED_TAINT["effect"]),
    }
)


_NOT_READY = (NOT_READY, "NoExecute")


def is_known_ephemeral(taint: Mapping[str, Any], core: CoreRelease) -> bool:
    """Return whether a taint disappears by itself while a node starts (core pkg/scheduling/taints.go, KnownEphemeralTaints)."""
    identity = taint.get("key"), taint.get("effect")
    if identity in _EPHEMERAL or (core.ephemeral_no_execute and identity == _NOT_READY):
        return True
    return core.ephemeral_readiness and str(identity[0]).startswith("readiness.k8s.io/")


def is_managed(claim: Object) -> bool:
    """Return whether a NodeClaim refers to an AKSNodeClass, so that this provider manages it."""
    ref = spec_of(claim).get("nodeClassRef") or {}
    return ref.get("group") == azure.GROUP and ref.get("kind") == "AKSNodeClass"


def nodeclass_of(claim: Object) -> str:
    """The name of the AKSNodeClass that a NodeClaim refers to, "" when it refers to none."""
    return str((spec_of(claim).get("nodeClassRef") or {}).get("name") or "")


def nodes_of(view: View, claim: Object) -> Sequence[Object]:
    """The Nodes with the provider id of a NodeClaim."""
    provider_id = status_of(claim).get("providerID")
    return view.indexed("nodes-by-provider-id", provider_id) if provider_id else ()


def claim_of(view: View, node: Object) -> Object | None:
    """The NodeClaim of a Node; None when there is none, or more than one."""
    provider_id = spec_of(node).get("providerID")
    claims = view.indexed("nodeclaims-by-provider-id", provider_id) if provider_id else ()
    return claims[0] if len(claims) == 1 else None


def nodepool_of(obj: Object) -> str:
    """The name of the NodePool that a NodeClaim or Node belongs to, "" when it belongs to none."""
    return str((metadata_of(obj).get("labels") or {}).get(NODEPOOL) or "")
