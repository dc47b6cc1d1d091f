"""Which nodes went, and what kept the others."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.kube.api.objects import name_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.asked import ITEMS, Asked

__all__ = ["tell"]

_CONDITIONS = ("Drifted", "Consolidatable")


def tell(asked: Asked) -> list[str]:
    """Every decision, the last word about each node that stays, and since when a NodeClaim could go.

    Of the Nodes that the expectation names, and of all where it names none or there is none of them.
    """
    own = _own(asked)
    said = listed(asked.why.departures(own), ITEMS, "decisions and reasons")
    whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
    marked = [line for name in whose for line in asked.why.conditions(name, _CONDITIONS)]
    claims = asked.why.claims() if own is None else asked.why.named_claims(own)
    if not claims:
        return [*said, "Karpenter made no NodeClaim, so there is no node that it could disrupt"]
    if said and (marked or asked.kind == "not_disrupted"):
        return [*said, *listed(marked, ITEMS // 2, "conditions")]
    of_them = "no NodeClaim" if own is None else f"no NodeClaim of {asked.body.node}"
    never = [] if marked else [f"{of_them} was ever Drifted or Consolidatable"]
    return [*said, *listed(marked, ITEMS // 2, "conditions"), *never, *listed(claims, ITEMS // 2, "NodeClaims")]


def _own(asked: Asked) -> list[str] | None:
    """The NodeClaims of the Nodes that the expectation is about; None for all."""
    if asked.body.node is None:
        return None
    nodes = asked.verdict.about or [name_of(node) for node in asked.run.nodes_of(asked.body.node)[0]]
    behind = [claim for name in nodes for claim in asked.why.claims_meant("Node", name)]
    kind, _, name = split_reference(asked.body.node)
    return list(dict.fromkeys(behind)) or asked.why.claims_meant(kind, name) or None
