"""Op ``static``: which NodeClaims the controllers of static NodePools would create and delete now."""

from collections.abc import Mapping
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.disruption import Cluster, cluster_of
from harness.conformance.errors import RequestError, Unsupported
from harness.conformance.ops.schedule import nodeclaim_answer
from harness.engine.clock import nanoseconds
from harness.karpenter.disruption.limits import exceeded
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.staticpools.decisions import Growth, growth, surplus
from harness.kube.api.objects import Object, is_terminating, name_of
from harness.kube.go.durations import print_duration


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Every NodePool by itself. Raises RequestError, Unsupported."""
    if not disruption_rules_of(context.release.core).static_nodepools:
        raise Unsupported(f"{context.release.version} has no static NodePools")
    try:
        cluster = cluster_of(request, context)
        replacing = frozenset(request.get("replacing") or ())
        return {name_of(nodepool): _nodepool(nodepool, cluster, replacing) for nodepool in cluster.snapshot.nodepools}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"not a cluster: {type(error).__name__}: {error}") from error


def _nodepool(nodepool: Object, cluster: Cluster, replacing: frozenset[str]) -> dict[str, Any]:
    view = cluster.situation()[0].view
    made = growth(view.simulations, nodepool, synced=view.synced, replacing=replacing)
    gone, again = surplus(view.simulations, nodepool, replacing=replacing)
    deleted = sorted(name_of(claim) for claim in gone if not is_terminating(claim))
    return {
        "provisioning": _provisioning(made, nodepool, cluster),
        "deprovisioning": {**_again(again), "deleted": deleted},
    }


def _provisioning(made: Growth, nodepool: Object, cluster: Cluster) -> dict[str, Any]:
    view = cluster.situation()[0].view
    problem = exceeded(view, nodepool) if made.count else None
    if problem is not None:
        problems = "; ".join([f"creating node claim, {problem}"] * made.count)
        return {"error": f"creating nodeclaims, {problems}", "created": []}
    planned = nodeclaim_answer(view.simulations.static_nodeclaim(nodepool))["nodeclaim"] if made.count else None
    return {**_again(made), "created": [planned] * made.count}


def _again(made: Growth) -> dict[str, str]:
    return {"requeue_after": print_duration(nanoseconds(made.again))} if made.again is not None else {}
