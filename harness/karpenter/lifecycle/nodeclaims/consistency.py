"""The condition ConsistentStateFound: every ten minutes, whether a Node has what its NodeClaim was launched with.

Source: core pkg/controllers/nodeclaim/consistency.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Sink, View, Writer, of_types
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.names import claim_of, is_managed, nodes_of
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import (
    Object,
    condition_is,
    conditions_of,
    is_terminating,
    name_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from harness.kube.api.status import ignoring
from lazyrecords import dataclass

__all__ = ["CONSISTENT_STATE_FOUND", "Consistency", "shape_issues"]

CONSISTENT_STATE_FOUND = "ConsistentStateFound"
_PERIOD = 600 * SECOND
_LEAST = 0.9
"""The share of the expected capacity below which a Node is too small."""


@dataclass(slots=True)
class _Scan:
    """When a NodeClaim was last looked at, in nanoseconds; ``repeats``: whether it is looked at again each period by itself."""

    uid: str
    at: int
    repeats: bool = False


class Consistency:
    """Sets the condition; a key is a NodeClaim's name.

    The first look comes when there is a machine, before there is a Node, and finds nothing; the next is ten minutes after it, and so on.
    A look is passed over where nothing has changed since one that found no issue: it would find none.
    """

    name = "nodeclaim.consistency"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock, core: CoreRelease) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._core = core
        self._scans: dict[str, _Scan] = {}

    def watches(self) -> Mapping[str, Router]:
        """NodeClaims with a machine, and Nodes, whenever something has changed that is looked at."""
        return {"NodeClaim": self._of_claim, "Node": self._of_node}

    def _of_claim(self, change: Change) -> Iterable[Hashable]:
        claim, old = change.object, change.old
        if change.type is ChangeType.MODIFIED and old is not None and _state(old) == _state(claim):
            return ()
        return (name_of(claim),) if status_of(claim).get("providerID") else ()

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _of_node(self, change: Change) -> Iterable[Hashable]:
        node, old = change.object, change.old
        if old is not None and status_of(old).get("capacity") == status_of(node).get("capacity"):
            return ()
        claim = claim_of(self._view, node)
        return (name_of(claim),) if claim is not None else ()

    def reconcile(self, key: Hashable) -> Result:
        """Looks at a NodeClaim, or comes back when it is time to."""
        claim, now = self._view.get("NodeClaim", str(key)), self._clock.now
        if claim is None:
            self._scans.pop(str(key), None)
            return DONE
        if not is_managed(claim) or not status_of(claim).get("providerID"):
            return DONE
        scan = self._scans.get(name_of(claim))
        if scan is not None and scan.uid == uid_of(claim):
            if scan.repeats:  # looks that were passed over
                scan.at += max(0, now - scan.at - 1) // _PERIOD * _PERIOD
            if now - scan.at < _PERIOD:
                scan.repeats = True
                return Result((scan.at + _PERIOD - now) / SECOND, Wait.ALARM)
        return self._look(claim, now)

    def _look(self, claim: Object, now: int) -> Result:
        nodes = nodes_of(self._view, claim)
        self._scans[name_of(claim)] = _Scan(uid_of(claim), now, len(nodes) == 1)
        if len(nodes) != 1:
            return DONE
        issues = list(shape_issues(claim, nodes[0]))
        for issue in issues:
            self._tell(claim, issue)
        conditions = Conditions(claim, NODECLAIM, self._clock.timestamp())
        if issues:
            conditions.set_false(CONSISTENT_STATE_FOUND, "ConsistencyCheckFailed", "Consistency Check Failed")
        elif not conditions.is_true(CONSISTENT_STATE_FOUND):
            conditions.set_true(CONSISTENT_STATE_FOUND)
        if conditions.items != list(conditions_of(claim)):
            with ignoring(404):
                patch = {"status": {"conditions": conditions.items}}
                self._writer.patch("NodeClaim", name_of(claim), patch, subresource="status")
        return Result(_PERIOD / SECOND, Wait.ALARM) if issues else DONE

    def _tell(self, claim: Object, issue: str) -> None:
        if self._core.consistency_is_error:
            self._sink.log("error", self.name, "consistency error", NodeClaim=name_of(claim), error=issue)
        else:
            self._sink.log("info", self.name, "failed consistency check", NodeClaim=name_of(claim), issue=issue)
        self._sink.event(claim, "Warning", "FailedConsistencyCheck", issue)


def shape_issues(claim: Object, node: Object) -> Iterator[str]:
    """Core's sentence for each resource that is asked for and of which a Node has less than nine tenths of what is expected.

    NodeClaims that are not initialized, or are being deleted, have none (nodeshape.go).
    """
    if is_terminating(claim) or not condition_is(claim, "Initialized"):
        return
    requests = parse_list((spec_of(claim).get("resources") or {}).get("requests"))
    expected, actual = parse_list(status_of(claim).get("capacity")), parse_list(status_of(node).get("capacity"))
    nothing = Quantity(0)
    for name in sorted(requests):
        wanted = expected.get(name, nothing)
        if not requests[name].nano or not wanted.nano:
            continue
        has = actual.get(name, nothing)
        share = has.nano / wanted.nano
        if share < _LEAST:
            yield f"expected {wanted} of resource {name}, but found {has} ({share * 100:.1f}% of expected)"


def _state(claim: Object) -> tuple[object, ...]:
    """Return the state that a look compares."""
    status = status_of(claim)
    return status.get("providerID"), status.get("capacity"), condition_is(claim, "Initialized"), is_terminating(claim)
