"""Whether a node is still left alone by consolidation, because pods came or went lately.

Core ``pkg/utils/disruption/disruption.go`` (IsUnderConsolidateAfter).
"""

from harness.engine.clock import parse
from harness.kube.api.objects import Object, condition, spec_of, status_of
from harness.kube.go.durations import parse_duration

NEVER = "Never"


def consolidate_after(nodepool: Object) -> int | None:
    """The NodePool's ``consolidateAfter`` in nanoseconds; None when consolidation is off."""
    text = (spec_of(nodepool).get("disruption") or {}).get("consolidateAfter")
    return None if text is None or text == NEVER else parse_duration(text)


def is_settling(nodepool: Object, nodeclaim: Object, now: int) -> bool:
    """Whether ``consolidateAfter`` has not passed since the last pod event, or since the node was initialized."""
    return settles_in(nodepool, nodeclaim, now) > 0


def settles_in(nodepool: Object, nodeclaim: Object, now: int) -> int:
    """The nanoseconds until ``consolidateAfter`` has passed, 0 when it has, or nothing is waited for."""
    after = consolidate_after(nodepool)
    initialized = condition(nodeclaim, "Initialized")
    if not after or initialized is None or initialized.get("status") != "True":
        return 0
    since = status_of(nodeclaim).get("lastPodEventTime") or initialized["lastTransitionTime"]
    return max(0, parse(since) + after - now)
