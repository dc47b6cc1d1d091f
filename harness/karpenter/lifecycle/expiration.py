"""When a NodeClaim has lived long enough; it is then deleted, whatever its pods say.

Source: core pkg/controllers/nodeclaim/expiration/controller.go.
"""

from harness.engine.clock import parse
from harness.karpenter.lifecycle.names import is_managed
from harness.kube.api.objects import Object, is_terminating, metadata_of, spec_of
from harness.kube.go.durations import parse_duration

__all__ = ["expires_in"]


def expires_in(claim: Object, now: int) -> int | None:
    """The nanoseconds from ``now`` on until it expires, 0 when it has; None when it never does, or is going away already."""
    after = spec_of(claim).get("expireAfter")
    if after is None or after == "Never" or is_terminating(claim) or not is_managed(claim):
        return None
    created = metadata_of(claim).get("creationTimestamp")
    return max(0, parse(created) + parse_duration(after) - now) if created else 0
