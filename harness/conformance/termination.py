"""One turn of the controller that ends a NodeClaim, on the cluster of a question."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.clock import Clock, nanoseconds
from harness.engine.engine import ReconcileError, Result
from harness.karpenter.labels.core import TERMINATION_TIMESTAMP
from harness.karpenter.lifecycle.nodeclaims.controller import NodeClaimLifecycle
from harness.karpenter.releases import CoreRelease
from harness.karpenter.scheduling import ClusterSnapshot
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    finalizers_of,
    name_of,
    spec_of,
    with_metadata,
)
from harness.kube.api.patch import merge_patch
from harness.kube.go.durations import print_duration

__all__ = ["terminated"]

_HELD = "oracle/held"


def terminated(claim: Object, snapshot: ClusterSnapshot, core: CoreRelease) -> dict[str, Any]:
    """Return the result of one turn about a NodeClaim that is being deleted: result, the claim and its Nodes afterwards, events."""
    # an API server has nothing that is being deleted and not held
    held = claim if finalizers_of(claim) else with_metadata(claim, finalizers=[_HELD])
    turn = _Turn(held, snapshot.nodes)
    clock = Clock()
    clock.now = snapshot.now
    parts: Any = turn
    answer: dict[str, Any] = {}
    try:
        result = NodeClaimLifecycle(parts, parts, parts, clock, parts.cloud, core).reconcile(name_of(claim))
        answer = _result(result)
    except ReconcileError as error:
        answer["error"] = str(error)
    left = turn.claim
    if not finalizers_of(left):
        answer["removed"] = True
    else:
        answer["termination_timestamp"] = annotations_of(left).get(TERMINATION_TIMESTAMP, "")
        answer["instance_terminating"] = condition_is(left, "InstanceTerminating")
    answer["nodes_deleted"] = [name_of(node) for node in snapshot.nodes if name_of(node) in turn.deleted]
    answer["events"] = [dict(zip(_Turn.fields, event, strict=True)) for event in sorted(turn.told)]
    return answer


def _result(result: Result) -> dict[str, str]:
    return {} if not result.after else {"requeue_after": print_duration(nanoseconds(result.after))}


class _Cloud:
    """Deletes whatever it is asked to."""

    def delete(self, claim: Object) -> None:
        pass


class _Turn:
    """The part of View, Writer and Sink that the controller uses for a NodeClaim that is being deleted."""

    fields = ("kind", "object", "reason", "type", "message")

    def __init__(self, claim: Object, nodes: Sequence[Object]) -> None:
        self.claim, self._nodes = claim, nodes
        self.cloud = _Cloud()
        self.deleted: set[str] = set()
        self.told: set[tuple[str, ...]] = set()

    def get(self, kind: str, name: str) -> Object:
        return self.claim

    def indexed(self, index: str, value: str) -> Sequence[Object]:
        return [node for node in self._nodes if spec_of(node).get("providerID") == value]

    def patch(self, kind: str, name: str, patch: Mapping[str, Any], *, subresource: str = "") -> Object:
        self.claim = merge_patch(self.claim, patch)
        return self.claim

    def delete(self, kind: str, name: str, *, uid: str | None = None) -> None:
        self.deleted.add(name)

    def event(self, obj: Object, type: str, reason: str, message: str) -> None:
        self.told.add(("NodeClaim", name_of(obj), reason, type, message))

    def log(self, level: str, controller: str, message: str, **values: object) -> None:
        pass
