"""Expiration: a NodeClaim older than its expireAfter is deleted, whatever budgets and annotations say.

Source: core pkg/controllers/nodeclaim/expiration/controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.disruptions import EXPIRED
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Sink, View, Writer, of_types
from harness.karpenter.lifecycle.names import is_managed
from harness.karpenter.lifecycle.nodes.forced import forcefully
from harness.kube.api.objects import Object, is_terminating, metadata_of, name_of, spec_of, uid_of
from harness.kube.api.status import ApiError
from harness.kube.go.durations import parse_duration

__all__ = ["Expiration", "expires_in"]


class Expiration:
    """Deletes expired NodeClaims; a key is a NodeClaim's name."""

    name = "nodeclaim.expiration"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock

    def watches(self) -> Mapping[str, Router]:
        """New NodeClaims; their expireAfter cannot change."""
        return {"NodeClaim": self._own}

    @of_types(ChangeType.ADDED)
    def _own(self, change: Change) -> Iterable[Hashable]:
        return (name_of(change.object),)

    def reconcile(self, key: Hashable) -> Result:
        """Delete a NodeClaim that has expired, or comes back when it will have."""
        claim = self._view.get("NodeClaim", str(key))
        left = expires_in(claim, self._clock.now) if claim is not None else None
        if claim is None or left is None:
            return DONE
        if left:
            return Result(left / SECOND, Wait.ALARM)
        try:
            self._writer.delete("NodeClaim", name_of(claim), uid=uid_of(claim))
        except ApiError as error:
            if error.code in (404, 409):
                return DONE
            raise ReconcileError(error.message) from error
        self._sink.log("debug", self.name, "deleting expired nodeclaim", NodeClaim=name_of(claim))
        forcefully(self._view, self._sink, self._clock, claim, EXPIRED)
        return DONE


def expires_in(claim: Object, now: int) -> int | None:
    """The nanoseconds from ``now`` on until a NodeClaim expires, 0 when it has; None when it never does, or is being deleted already."""
    after = spec_of(claim).get("expireAfter")
    if after is None or after == "Never" or is_terminating(claim) or not is_managed(claim):
        return None
    created = metadata_of(claim).get("creationTimestamp")
    return max(0, parse(created) + parse_duration(after) - now) if created else 0
