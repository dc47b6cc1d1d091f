"""Why there are so many NodeClaims, and why they became what they are."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.kube.api.objects import spec_of
from harness.scenario.running.reasons.asked import ITEMS, Asked, pod_key
from harness.scenario.running.reasons.pods import waiting
from harness.scenario.running.run import Run

__all__ = ["made_in_loops", "tell"]


def tell(asked: Asked) -> list[str]:
    """What Azure refused, the NodeClaims with their ends, and where there are none, why pods wait."""
    own = _own(asked)
    claims = asked.why.claims() if own is None else asked.why.named_claims(own)
    refused = asked.why.refusals(own) if asked.kind == "nodeclaims" else []
    said = []
    if any(difference.path.startswith("conditions.") for difference in asked.verdict.differences):
        kinds = [difference.path.removeprefix("conditions.") for difference in asked.verdict.differences]
        whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
        said = [line for name in whose for line in asked.why.conditions(name, kinds)]
    if claims or refused:
        return [*refused, *said, *listed(claims, ITEMS, "NodeClaims")]
    pods = [pod_key(pod) for pod in asked.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    return waiting(asked, pods) or ["no pod waited, so Karpenter made no NodeClaim"]


def _own(asked: Asked) -> list[str] | None:
    """The NodeClaims that the verdict is about: the nearest one, those of its NodePool or of the runaway; None for all."""
    if asked.kind == "runaway":
        return made_in_loops(asked.run)
    if asked.verdict.about:
        return list(asked.verdict.about)
    pool = getattr(asked.body, "nodepool", None)
    return None if pool is None else asked.why.claims_meant("NodePool", pool)


def made_in_loops(run: Run) -> list[str] | None:
    """The NodeClaims that the first runaway made; None without one."""
    if not run.runaways:
        return None
    return [name.removeprefix("NodeClaim/") for loop in run.runaways[0].loops for name in loop.made]
