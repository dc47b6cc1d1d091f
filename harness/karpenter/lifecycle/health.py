"""Whether the Nodes of a NodePool come up: the last four outcomes, unhealthy from two failures.

It informs (`NodeRegistrationHealthy`) and stops nothing.
Source: core pkg/state/nodepoolhealth, …/lifecycle/{registration,liveness}.go.
"""

from __future__ import annotations

from collections import deque

from harness.engine.clock import Clock
from harness.engine.ports import View, Writer
from harness.karpenter.lifecycle.conditions import NODEPOOL, Conditions
from harness.karpenter.lifecycle.names import nodepool_of
from harness.kube.api.objects import Object, name_of, owners_of, uid_of
from harness.kube.api.status import ignoring

HEALTHY = "NodeRegistrationHealthy"
_BUFFER = 4
_UNHEALTHY_FROM = 2


class RegistrationHealth:
    """The outcomes of launches, per NodePool."""

    def __init__(self, view: View, writer: Writer, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock
        self._outcomes: dict[str, deque[bool]] = {}

    def succeeded(self, claim: Object) -> None:
        """A Node registered."""
        pool = self._pool(claim)
        if pool is None:
            return
        outcomes = self._record(pool, True)
        if outcomes.count(False) < _UNHEALTHY_FROM:
            conditions = Conditions(pool, NODEPOOL, self._clock.timestamp())
            if conditions.set_true(HEALTHY):
                self._write(pool, conditions)

    def failed(self, claim: Object, of_claim: Conditions) -> None:
        """A NodeClaim ran into a timeout."""
        pool = self._pool(claim)
        if pool is None:
            return
        outcomes = self._record(pool, False)
        conditions = Conditions(pool, NODEPOOL, self._clock.timestamp())
        if outcomes.count(False) >= _UNHEALTHY_FROM and conditions.status(HEALTHY) != "False":
            reason, message = "RegistrationFailed", "Failed to register node"
            launched = of_claim.get("Launched")
            if launched is not None and launched["status"] != "True":
                reason, message = launched["reason"], launched["message"]
            conditions.set_false(HEALTHY, reason, message)
            self._write(pool, conditions)

    def reset(self, pool: Object) -> None:
        """NodePool or NodeClass changed: past outcomes mean nothing any more."""
        self._outcomes.pop(uid_of(pool), None)

    def _pool(self, claim: Object) -> Object | None:
        name = nodepool_of(claim)
        pool = self._view.get("NodePool", name) if name else None
        if pool is None or not any(ref.get("uid") == uid_of(pool) for ref in owners_of(claim)):
            return None
        return pool

    def _record(self, pool: Object, outcome: bool) -> deque[bool]:
        outcomes = self._outcomes.setdefault(uid_of(pool), deque(maxlen=_BUFFER))
        outcomes.append(outcome)
        return outcomes

    def _write(self, pool: Object, conditions: Conditions) -> None:
        with ignoring(404):
            self._writer.patch(
                "NodePool", name_of(pool), {"status": {"conditions": conditions.items}}, subresource="status"
            )
