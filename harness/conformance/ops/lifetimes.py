"""Op ``lifetimes``: conditions, expiration, termination and repair of single NodeClaims and Nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.disruption import Cluster, cluster_of, conditions_answer, judged_of
from harness.conformance.errors import RequestError
from harness.conformance.termination import terminated
from harness.engine.clock import nanoseconds
from harness.karpenter.labels.core import NODEPOOL, NODEPOOL_HASH, NODEPOOL_HASH_VERSION, TERMINATION_TIMESTAMP
from harness.karpenter.lifecycle.nodeclaims.expiration import expires_in
from harness.karpenter.lifecycle.nodes.repair import repair_of, replacing_policies
from harness.kube.api.objects import Object, annotations_of, is_terminating, labels_of, name_of, spec_of, status_of
from harness.kube.go.durations import print_duration


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Every NodeClaim and every Node by itself. Raises RequestError."""
    try:
        cluster = cluster_of(request, context)
        result: dict[str, Any] = {
            "nodeclaims": {name_of(claim): _claim(claim, cluster) for claim in cluster.nodeclaims},
            "nodes": {name_of(node): _node(node, cluster) for node in cluster.snapshot.nodes},
            "repair_policies": [
                {
                    "type": policy.condition,
                    "status": policy.status,
                    "toleration": print_duration(nanoseconds(policy.toleration)),
                }
                for policy in context.release.repair_policies
            ],
        }
        if (request.get("options") or {}).get("hashNodePools"):
            result["nodepools"] = {name_of(nodepool): _hash(nodepool) for nodepool in cluster.snapshot.nodepools}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"not a cluster: {type(error).__name__}: {error}") from error
    return result


def _hash(pool: Object) -> dict[str, str]:
    annotations = annotations_of(pool)
    return {"hash": annotations[NODEPOOL_HASH], "version": annotations[NODEPOOL_HASH_VERSION]}


def _claim(claim: Object, cluster: Cluster) -> dict[str, Any]:
    now = cluster.snapshot.now
    drift = cluster.request.get("drift") or {}
    judged = judged_of(claim, cluster.snapshot, cluster.instance_types, drift, cluster.release)
    left = expires_in(claim, now)
    result: dict[str, Any] = {
        "disruption": _result(judged.again, judged.error),
        "conditions": conditions_answer(judged.nodeclaim),
        "annotations": dict(annotations_of(judged.nodeclaim)),
        "expiration": _result(left or None),
        "expired": left == 0,
    }
    if is_terminating(claim):
        result["termination"] = terminated(claim, cluster.snapshot, cluster.release.core)
    return result


def _node(node: Object, cluster: Cluster) -> dict[str, Any]:
    snapshot, release = cluster.snapshot, cluster.release
    machine = spec_of(node).get("providerID") or ""
    claims = [claim for claim in snapshot.nodeclaims if (status_of(claim).get("providerID") or "") == machine]
    living = [claim for claim in claims if not is_terminating(claim)]
    result: dict[str, Any] = {"events": []}
    if living:
        result["repaired"] = False
    if not machine or len(claims) != 1:
        return result
    first, policies = release.core.repair_asks_node_first, replacing_policies(release)
    repair = repair_of(node, claims[0], snapshot.nodes, policies, snapshot.now, node_first=first)
    again = repair.again if not repair.held or release.core.held_repair_looks_again else None
    result |= _result(again)
    if repair.held and _pool_is_there(claims[0], snapshot.nodepools):
        event = {"kind": "Node", "object": name_of(node), "reason": "NodeRepairBlocked", "type": "Warning"}
        result["events"] = [{**event, "message": repair.held}]
    if repair.deletes:
        result["repaired"] = True
        before = annotations_of(claims[0]).get(TERMINATION_TIMESTAMP)
        if repair.deadline is not None and repair.deadline != before:
            result["termination_timestamp"] = repair.deadline
    return result


def _pool_is_there(claim: Object, nodepools: Sequence[Object]) -> bool:
    """Nobody is told about a NodePool that is gone; a NodeClaim without one is told about."""
    pool = labels_of(claim).get(NODEPOOL)
    return pool is None or any(name_of(nodepool) == pool for nodepool in nodepools)


def _result(again: int | None, error: str = "") -> dict[str, str]:
    result = {} if again is None else {"requeue_after": print_duration(again)}
    return {**result, "error": error} if error else result
