"""Replacing Nodes that the cloud provider says are past help, unless too many are.

Source: core pkg/controllers/node/health/controller.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.engine.clock import nanoseconds, parse, render
from harness.karpenter.labels.core import NODEPOOL, TERMINATION_TIMESTAMP
from harness.karpenter.releases.model import RepairPolicy
from harness.kube.api.objects import Object, annotations_of, condition, is_terminating, labels_of

__all__ = ["TOO_MANY_SECONDS", "Repair", "repair_of", "unhealthy_since"]

TOO_MANY_SECONDS = 300.0
_ALLOWED_PERCENT = 20


@dataclass(frozen=True, slots=True)
class Repair:
    """What is done about a Node. ``again`` nanoseconds are waited for its toleration; else it is ``held`` back, for this reason, or
    its NodeClaim is deleted (``deletes``), whose pods go at ``deadline``, None when that is set already."""

    again: int | None = None
    held: str = ""
    deletes: bool = False
    deadline: str | None = None


def unhealthy_since(node: Object, policies: Sequence[RepairPolicy]) -> int | None:
    """The moment from which on it may be replaced, the earliest of all policies that it meets; None for a healthy Node."""
    found = ((condition(node, each.condition), each) for each in policies)
    return min(
        (
            parse(present["lastTransitionTime"]) + nanoseconds(policy.toleration)
            for present, policy in found
            if present is not None and present["status"] == policy.status
        ),
        default=None,
    )


def repair_of(
    node: Object, claim: Object, nodes: Sequence[Object], policies: Sequence[RepairPolicy], now: int
) -> Repair:
    """What is done at ``now`` about a Node and its one NodeClaim in a cluster of these Nodes.

    Unhealthy Nodes count as soon as they have the condition, and a fifth of them, rounded up, may be.
    """
    since = unhealthy_since(node, policies)
    if since is None:
        return Repair()
    if now < since:
        return Repair(again=since - now)
    pool = labels_of(claim).get(NODEPOOL)
    among = nodes if pool is None else [each for each in nodes if labels_of(each).get(NODEPOOL) == pool]
    unhealthy = sum(unhealthy_since(each, policies) is not None for each in among)
    if unhealthy > -(-len(among) * _ALLOWED_PERCENT // 100):
        # core's own spelling differs between the two
        where = (
            "then 20% nodes are unhealthy in the cluster"
            if pool is None
            else "than 20% nodes are unhealthy in the nodepool"
        )
        return Repair(again=nanoseconds(TOO_MANY_SECONDS), held=f"more {where}")
    return Repair(deletes=not is_terminating(claim), deadline=None if _is_over(claim, now) else render(now))


def _is_over(claim: Object, now: int) -> bool:
    """Whether its pods' time has run out before; a time that cannot be read does not count."""
    try:
        return parse(annotations_of(claim).get(TERMINATION_TIMESTAMP) or "") < now
    except ValueError:
        return False
