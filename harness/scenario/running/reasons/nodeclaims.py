"""Why there are so many NodeClaims, and why they became what they are."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.kube.api.objects import spec_of
from harness.scenario.running.reasons.asked import ITEMS, Asked, pod_key
from harness.scenario.running.reasons.pods import waiting

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """What Azure refused, the NodeClaims with their ends, and where there are none, why pods wait."""
    pool = getattr(asked.body, "nodepool", None)
    claims = asked.why.claims(lambda fact: pool is None or fact.nodepool == pool)
    refused = asked.why.refusals() if asked.kind == "nodeclaims" else []
    said = []
    if any(one.path.startswith("conditions.") for one in asked.verdict.differences):
        kinds = [one.path.removeprefix("conditions.") for one in asked.verdict.differences]
        said = asked.why.conditions("NodeClaim/", kinds)
    if claims or refused:
        return [*refused, *said, *listed(claims, ITEMS, "NodeClaims")]
    pods = [pod_key(pod) for pod in asked.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    return waiting(asked, pods) or ["no pod waited, so Karpenter made no NodeClaim"]
