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
        found: dict[str, Any] = {
            "nodeclaims": {name_of(each): _claim(each, cluster) for each in cluster.nodeclaims},
            "nodes": {name_of(each): _node(each, cluster) for each in cluster.snapshot.nodes},
            "repair_policies": [
                {
                    "type": each.condition,
                    "status": each.status,
                    "toleration": print_duration(nanoseconds(each.toleration)),
                }
                for each in context.release.repair_policies
            ],
        }
        if (request.get("options") or {}).get("hashNodePools"):
            found["nodepools"] = {name_of(each): _hash(each) for each in cluster.snapshot.nodepools}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"not a cluster: {type(error).__name__}: {error}") from error
    return found


def _hash(pool: Object) -> dict[str, str]:
    annotations = annotations_of(pool)
    return {"hash": annotations[NODEPOOL_HASH], "version": annotations[NODEPOOL_HASH_VERSION]}


def _claim(claim: Object, cluster: Cluster) -> dict[str, Any]:
    now = cluster.snapshot.now
    drift = cluster.request.get("drift") or {}
    judged = judged_of(claim, cluster.snapshot, cluster.instance_types, drift, cluster.release)
    left = expires_in(claim, now)
    found: dict[str, Any] = {
        "disruption": _result(judged.again, judged.error),
        "conditions": conditions_answer(judged.nodeclaim),
        "annotations": dict(annotations_of(judged.nodeclaim)),
        "expiration": _result(left or None),
        "expired": left == 0,
    }
    if is_terminating(claim):
        found["termination"] = terminated(claim, cluster.snapshot, cluster.release.core)
    return found


def _node(node: Object, cluster: Cluster) -> dict[str, Any]:
    snapshot, release = cluster.snapshot, cluster.release
    machine = spec_of(node).get("providerID") or ""
    claims = [each for each in snapshot.nodeclaims if (status_of(each).get("providerID") or "") == machine]
    living = [each for each in claims if not is_terminating(each)]
    found: dict[str, Any] = {"events": []}
    if living:
        found["repaired"] = False
    if not machine or len(claims) != 1:
        return found
    first, policies = release.core.repair_asks_node_first, replacing_policies(release)
    repair = repair_of(node, claims[0], snapshot.nodes, policies, snapshot.now, node_first=first)
    again = repair.again if not repair.held or release.core.held_repair_looks_again else None
    found |= _result(again)
    if repair.held and _pool_is_there(claims[0], snapshot.nodepools):
        event = {"kind": "Node", "object": name_of(node), "reason": "NodeRepairBlocked", "type": "Warning"}
        found["events"] = [{**event, "message": repair.held}]
    if repair.deletes:
        found["repaired"] = True
        before = annotations_of(claims[0]).get(TERMINATION_TIMESTAMP)
        if repair.deadline is not None and repair.deadline != before:
            found["termination_timestamp"] = repair.deadline
    return found


def _pool_is_there(claim: Object, nodepools: Sequence[Object]) -> bool:
    """Nobody is told about a NodePool that is gone; a NodeClaim without one is told about."""
    pool = labels_of(claim).get(NODEPOOL)
    return pool is None or any(name_of(each) == pool for each in nodepools)


def _result(again: int | None, error: str = "") -> dict[str, str]:
    found = {} if again is None else {"requeue_after": print_duration(again)}
    return {**found, "error": error} if error else found
