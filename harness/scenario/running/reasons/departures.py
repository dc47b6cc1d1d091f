"""Nodes that went, and the reasons that kept the others."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.kube.api.objects import name_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation

__all__ = ["failure_lines"]

_CONDITIONS = ("Drifted", "Consolidatable")


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return every decision, the last reason of each node that stays, and the time since which a NodeClaim could go.

    The nodes are those that the expectation names, and all where it names none or none of them exists.
    """
    own = _own(failure)
    decisions = listed(failure.why.departures(own), ITEMS, "decisions and reasons")
    whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
    marked = [line for name in whose for line in failure.why.conditions(name, _CONDITIONS)]
    claims = failure.why.claims() if own is None else failure.why.named_claims(own)
    if not claims:
        return [*decisions, "Karpenter made no NodeClaim, so there is no node that it could disrupt"]
    if decisions and (marked or failure.kind == "not_disrupted"):
        return [*decisions, *listed(marked, ITEMS // 2, "conditions")]
    of_them = "no NodeClaim" if own is None else f"no NodeClaim of {failure.body.node}"
    never = [] if marked else [f"{of_them} was ever Drifted or Consolidatable"]
    return [*decisions, *listed(marked, ITEMS // 2, "conditions"), *never, *listed(claims, ITEMS // 2, "NodeClaims")]


def _own(failure: FailedExpectation) -> list[str] | None:
    """Return the NodeClaims of the Nodes that the expectation is about; None for all."""
    if failure.body.node is None:
        return None
    nodes = failure.verdict.about or [name_of(node) for node in failure.run.nodes_of(failure.body.node)[0]]
    behind = [claim for name in nodes for claim in failure.why.claims_meant("Node", name)]
    kind, _, name = split_reference(failure.body.node)
    return list(dict.fromkeys(behind)) or failure.why.claims_meant(kind, name) or None
