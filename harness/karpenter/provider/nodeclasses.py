"""The AKSNodeClass that counts for a NodeClaim (kaz pkg/utils/nodeclaim/nodeclaim.go, GetAKSNodeClass; pkg/utils/errors.go)."""

from __future__ import annotations

from harness.kube.api.objects import Object, is_terminating
from harness.kube.go.text import quote

__all__ = ["why_not_found"]


def why_not_found(name: str, nodeclass: Object | None, *, lookup_told: bool = True) -> str | None:
    """Return why an AKSNodeClass does not count: it is not there, or is being deleted; None for one that counts.

    `lookup_told`: the text says what was tried.
    """
    if nodeclass is None:
        missing = f"AKSNodeClass.karpenter.azure.com {quote(name)} not found"
        return f"getting AKSNodeClass {name}: {missing}" if lookup_told else missing
    if is_terminating(nodeclass):
        return f"aksnodeclasses.karpenter.azure.com {quote(name)} is terminating, treating as not found"
    return None
