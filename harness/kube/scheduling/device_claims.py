"""Claims of devices that keep a pod out of the scheduling queue.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources (PreEnqueue), on by default since 1.34.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.kube.api.objects import Object, namespace_of, spec_of, status_of
from harness.kube.api.versions import Version

__all__ = ["lacks_claims"]

_ON = Version(1, 34)


def lacks_claims(pod: Object, lookup: Callable[[str, str, str], Object | None], version: Version) -> bool:
    """Return whether a ResourceClaim that the pod names is missing: such a pod is not queued, and not marked."""
    claims = spec_of(pod).get("resourceClaims")
    if not claims or version < _ON:
        return False
    made = {
        status["name"]: status.get("resourceClaimName") for status in status_of(pod).get("resourceClaimStatuses") or ()
    }
    names = [claim.get("resourceClaimName") or made.get(claim["name"]) for claim in claims]
    return any(not name or lookup("ResourceClaim", name, namespace_of(pod)) is None for name in names)
