"""Reasons for the number of NodeClaims, and for their properties."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.kube.api.objects import spec_of
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation, pod_key
from harness.scenario.running.reasons.pods import waiting
from harness.scenario.running.run import Run

__all__ = ["failure_lines", "made_in_loops"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return Azure's refusals, the NodeClaims with their ends, and where there are none, why pods wait."""
    own = _own(failure)
    claims = failure.why.claims() if own is None else failure.why.named_claims(own)
    refused = failure.why.refusals(own) if failure.kind == "nodeclaims" else []
    states = []
    if any(difference.path.startswith("conditions.") for difference in failure.verdict.differences):
        kinds = [difference.path.removeprefix("conditions.") for difference in failure.verdict.differences]
        whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
        states = [line for name in whose for line in failure.why.conditions(name, kinds)]
    if claims or refused:
        return [*refused, *states, *listed(claims, ITEMS, "NodeClaims")]
    pods = [pod_key(pod) for pod in failure.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    return waiting(failure, pods) or ["no pod waited, so Karpenter made no NodeClaim"]


def _own(failure: FailedExpectation) -> list[str] | None:
    """Return the NodeClaims that the verdict is about: the nearest one, those of its NodePool or of the runaway; None for all."""
    if failure.kind == "runaway":
        return made_in_loops(failure.run)
    if failure.verdict.about:
        return list(failure.verdict.about)
    pool = getattr(failure.body, "nodepool", None)
    return None if pool is None else failure.why.claims_meant("NodePool", pool)


def made_in_loops(run: Run) -> list[str] | None:
    """Return the NodeClaims that the first runaway made; None without one."""
    if not run.runaways:
        return None
    return [name.removeprefix("NodeClaim/") for loop in run.runaways[0].loops for name in loop.made]
