"""Which nodes went, and what kept the others."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.scenario.running.reasons.asked import ITEMS, Asked

__all__ = ["tell"]

_CONDITIONS = ("Drifted", "Consolidatable")


def tell(asked: Asked) -> list[str]:
    """Every decision, the last word about each node that stays, and since when a NodeClaim could go."""
    said = listed(asked.why.departures(), ITEMS, "decisions and reasons")
    marked = asked.why.conditions("NodeClaim/", _CONDITIONS)
    claims = asked.why.claims()
    if not claims:
        return [*said, "Karpenter made no NodeClaim, so there is no node that it could disrupt"]
    if said and (marked or asked.kind == "not_disrupted"):
        return [*said, *listed(marked, ITEMS // 2, "conditions")]
    never = [] if marked else ["no NodeClaim was ever Drifted or Consolidatable"]
    return [*said, *listed(marked, ITEMS // 2, "conditions"), *never, *listed(claims, ITEMS // 2, "NodeClaims")]
