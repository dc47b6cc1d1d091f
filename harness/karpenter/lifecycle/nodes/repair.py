"""Node repair: Nodes that match a repair policy of the provider are replaced, unless too many are unhealthy.

Source: core pkg/controllers/node/health/controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from harness.engine.clock import SECOND, ZERO_TIME, Clock, nanoseconds, parse, render
from harness.engine.disruptions import UNHEALTHY
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Sink, View, Writer
from harness.karpenter.labels.core import NODEPOOL, TERMINATION_TIMESTAMP
from harness.karpenter.lifecycle.names import claim_of
from harness.karpenter.lifecycle.nodes.forced import forcefully
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.releases.flag_values import RepairPolicy
from harness.karpenter.releases.model import ProviderRelease
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    conditions_of,
    is_terminating,
    labels_of,
    name_of,
    uid_of,
)
from harness.kube.api.status import ApiError
from lazyrecords import dataclass

__all__ = ["TOO_MANY_SECONDS", "NodeRepair", "Repair", "repair_of", "replacing_policies", "unhealthy_since"]

TOO_MANY_SECONDS = 300.0
_ALLOWED_PERCENT = 20
_TOLD_AGAIN = 900.0


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of a Node; none for a healthy one.

    ``again``: look again after so many nanoseconds, because the policy's toleration lasts or too many Nodes are unhealthy; ``held`` is
    core's text about the latter. ``deletes``: its NodeClaim is deleted; its pods have until ``deadline``, None when that is set already.
    """

    again: int | None = None
    held: str = ""
    deletes: bool = False
    deadline: str | None = None


def replacing_policies(release: ProviderRelease) -> Sequence[RepairPolicy]:
    """Return the policies that this controller acts on: from core 1.15.0 on those with the action ReplaceNode, which no policy of the
    provider has yet (core ``pkg/controllers/node/legacyrepair/controller.go``)."""
    return () if disruption_rules_of(release.core).repair_is_disruption else release.repair_policies


def unhealthy_since(node: Object, policies: Sequence[RepairPolicy]) -> int | None:
    """The moment (nanoseconds) from which on a Node may be replaced, the earliest of all policies that it matches; None for a healthy
    one."""
    conditions = ((condition(node, each_policy.condition), each_policy) for each_policy in policies)
    return min(
        (
            parse(present.get("lastTransitionTime") or ZERO_TIME) + nanoseconds(policy.toleration)
            for present, policy in conditions
            if present is not None and present["status"] == policy.status
        ),
        default=None,
    )


def repair_of(
    node: Object,
    claim: Object,
    nodes: Sequence[Object],
    policies: Sequence[RepairPolicy],
    now: int,
    *,
    node_first: bool = True,
) -> Repair:
    """Return the repair at ``now`` of a Node and its one NodeClaim in a cluster of these Nodes.

    Nodes count as unhealthy as soon as they have the condition. More than a fifth of the NodePool's (or the cluster's), rounded up,
    block all repairs. ``node_first``: they are counted only once the Node's own time has come.
    """
    held = "" if node_first else _held(claim, nodes, policies)
    since = unhealthy_since(node, policies)
    if not held:
        if since is None:
            return Repair()
        if now < since:
            return Repair(again=since - now)
        held = _held(claim, nodes, policies) if node_first else ""
    if held:
        return Repair(again=nanoseconds(TOO_MANY_SECONDS), held=held)
    return Repair(deletes=not is_terminating(claim), deadline=None if _is_over(claim, now) else render(now))


def _held(claim: Object, nodes: Sequence[Object], policies: Sequence[RepairPolicy]) -> str:
    """The sentence about too many unhealthy Nodes of the NodePool, or of the cluster for a NodeClaim without one."""
    pool = labels_of(claim).get(NODEPOOL)
    among = nodes if pool is None else [node for node in nodes if labels_of(node).get(NODEPOOL) == pool]
    unhealthy = sum(unhealthy_since(node, policies) is not None for node in among)
    if unhealthy <= -(-len(among) * _ALLOWED_PERCENT // 100):
        return ""
    # core's own spelling differs between the two
    where = (
        "then 20% nodes are unhealthy in the cluster"
        if pool is None
        else "than 20% nodes are unhealthy in the nodepool"
    )
    return f"more {where}"


def _is_over(claim: Object, now: int) -> bool:
    """Return whether the termination timestamp of its NodeClaim has passed; one that cannot be parsed does not count."""
    try:
        return parse(annotations_of(claim).get(TERMINATION_TIMESTAMP) or "") < now
    except ValueError:
        return False


class NodeRepair:
    """Deletes the NodeClaims of unhealthy Nodes; a key is a Node's name. Behind core's feature gate NodeRepair."""

    name = "node.health"
    backoff = (0.1, 60.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock, release: ProviderRelease) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._release = release

    def watches(self) -> Mapping[str, Router]:
        """Nodes, when one of their conditions has changed."""
        return {"Node": self._own}

    def _own(self, change: Change) -> Iterable[Hashable]:
        if change.type is ChangeType.DELETED:
            return ()
        if change.old is not None and _conditions(change.old) == _conditions(change.object):
            return ()
        return (name_of(change.object),)

    def reconcile(self, key: Hashable) -> Result:
        """Delete the NodeClaim of one Node, if its time has come and not too many others are unhealthy."""
        node = self._view.get("Node", str(key))
        claim = claim_of(self._view, node) if node is not None else None
        if node is None or claim is None:
            return DONE
        release, nodes = self._release, self._view.list("Node")
        repair = repair_of(
            node,
            claim,
            nodes,
            replacing_policies(release),
            self._clock.now,
            node_first=release.core.repair_asks_node_first,
        )
        if repair.held:
            return self._hold(node, claim, repair)
        if repair.again is not None:
            return Result(repair.again / SECOND, Wait.ALARM)
        try:
            return self._repair(claim, repair)
        except ApiError as error:
            if error.code in (404, 409):
                return DONE
            raise ReconcileError(error.message) from error

    def _hold(self, node: Object, claim: Object, repair: Repair) -> Result:
        pool = labels_of(claim).get(NODEPOOL)
        if pool is None or self._view.get("NodePool", pool) is not None:
            self._sink.event(node, "Warning", "NodeRepairBlocked", repair.held, dedupe_seconds=_TOLD_AGAIN)
        return Result(TOO_MANY_SECONDS, Wait.ALARM) if self._release.core.held_repair_looks_again else DONE

    def _repair(self, claim: Object, repair: Repair) -> Result:
        name = name_of(claim)
        if repair.deadline is not None:
            marks = {TERMINATION_TIMESTAMP: repair.deadline}
            self._writer.patch("NodeClaim", name, {"metadata": {"annotations": marks}})
        if repair.deletes:
            self._writer.delete("NodeClaim", name, uid=uid_of(claim))
            self._sink.log("info", self.name, "deleting unhealthy node", NodeClaim=name)
            forcefully(self._view, self._sink, self._clock, claim, UNHEALTHY)
        return DONE


def _conditions(node: Object) -> Sequence[tuple[object, object, object]]:
    return [(entry["type"], entry["status"], entry.get("lastTransitionTime")) for entry in conditions_of(node)]
