"""Races inside the real controller that a busy machine lets it lose, recognised by what it leaves.

* It marks a NodePool as healthy while a Node registers. Where somebody else writes the NodePool's status at that moment, the write
  is refused and never tried again, since the NodeClaim is Registered by then (core
  ``pkg/controllers/nodeclaim/lifecycle/registration.go``, Reconcile).
* Under the gate NodeOverlay a NodePool has no sizes until its overlays were evaluated (core ``pkg/controllers/nodeoverlay/store.go``,
  UnevaluatedNodePoolError). Pods that come first are told so, and for five minutes nothing else, whatever becomes of them.

The simulated loop takes one step after the other, and loses neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.karpenter.lifecycle.nodepools.health import HEALTHY

if TYPE_CHECKING:
    from harness.world.facts import Facts

__all__ = ["without_races"]

Found = Mapping[str, Any]

_UNKNOWN = "Unknown AwaitingReconciliation"
_SIZELESS = (
    "Warning NoCompatibleInstanceTypes: NodePool requirements filtered out all compatible available instance types"
)
_UNSCHEDULED = "Warning FailedScheduling: "
_TOO_EARLY = f"{_UNSCHEDULED}Failed to schedule pod, nodepool requirements filtered out all available instance types"
_WANTED = "Normal Nominated: "


def without_races(expected: Facts, real: Facts) -> tuple[Found, Found]:
    """Return the facts of both runs, without what the real controller said or left out because it lost a race."""
    left, right = expected.found, _with_health(expected.found, real)
    return _without_early_looks(left, right) if real.has_overlays else (left, right)


def _with_health(left: Found, real: Facts) -> Found:
    """Return the real facts, in which NodePools are healthy where the write about it was refused."""
    pools = dict((real.found.get("Ready") or {}).get("NodePool") or {})
    for name in real.lost:
        conditions, simulated = pools.get(name) or {}, _health(left, name)
        if simulated == "True" and str(conditions.get(HEALTHY)).startswith(_UNKNOWN):
            pools[name] = {**conditions, HEALTHY: simulated}
    return {**real.found, "Ready": {**real.found["Ready"], "NodePool": pools}} if pools else real.found


def _health(facts: Found, pool: str) -> str:
    pools = (facts.get("Ready") or {}).get("NodePool") or {}
    return str((pools.get(pool) or {}).get(HEALTHY))


def _without_early_looks(left: Found, right: Found) -> tuple[Found, Found]:
    ours, theirs = dict(left.get("Events") or {}), dict(right.get("Events") or {})
    early = [name for name, texts in theirs.items() if _TOO_EARLY in texts and _TOO_EARLY not in ours.get(name, {})]
    if not early:
        return left, right
    for name in early:
        mine, other = ours.get(name, {}), theirs[name]
        ours[name], theirs[name] = _told(mine, other), _told(other, mine)
    for name, texts in theirs.items():
        if _SIZELESS not in ours.get(name, {}):
            theirs[name] = {text: seen for text, seen in texts.items() if text != _SIZELESS}
    return {**left, "Events": _present(ours)}, {**right, "Events": _present(theirs)}


def _told(texts: Found, others: Found) -> Found:
    """Return a pod's Events without FailedScheduling, and without a nomination that only one of two runs tells in other words."""
    nominated = all(any(text.startswith(_WANTED) for text in events) for events in (texts, others))
    return {
        text: seen
        for text, seen in texts.items()
        if not text.startswith(_UNSCHEDULED) and not (nominated and text.startswith(_WANTED) and text not in others)
    }


def _present(events: Mapping[str, Found]) -> Found:
    return {name: texts for name, texts in events.items() if texts}
