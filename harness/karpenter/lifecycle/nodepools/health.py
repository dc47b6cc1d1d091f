"""The registration of the Nodes of a NodePool: the last four outcomes count, two failures make it unhealthy.

Up to core 1.7 nothing is counted: a Node that registers makes the NodePool of its label healthy; a NodeClaim that does not register in time
makes it unhealthy if the condition is still Unknown, and one that is not launched in time changes nothing.
The condition `NodeRegistrationHealthy` only informs; nothing depends on it.
Source: core pkg/state/nodepoolhealth, …/lifecycle/{registration,liveness}.go, …/nodepool/registrationhealth.
"""

from __future__ import annotations

from collections import deque

from harness.engine.clock import Clock
from harness.engine.ports import View, Writer
from harness.karpenter.lifecycle.conditions import NODEPOOL, Conditions
from harness.karpenter.lifecycle.names import nodepool_of
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import Object, name_of, owners_of, uid_of
from harness.kube.api.status import ignoring

HEALTHY = "NodeRegistrationHealthy"
_BUFFER = 4
_UNHEALTHY_FROM = 2


class RegistrationHealth:
    """The outcomes of launches, per NodePool."""

    def __init__(self, view: View, writer: Writer, clock: Clock, core: CoreRelease) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock
        self._counts = core.counts_registrations
        self._outcomes: dict[str, deque[bool]] = {}

    def succeeded(self, claim: Object) -> None:
        """Count a NodeClaim whose Node registered."""
        pool = self._pool(claim)
        if pool is None:
            return
        if not self._counts or self._record(pool, True).count(False) < _UNHEALTHY_FROM:
            conditions = Conditions(pool, NODEPOOL, self._clock.timestamp())
            if conditions.set_true(HEALTHY):
                self._write(pool, conditions)

    def failed(self, claim: Object, of_claim: Conditions, *, launching: bool = False) -> None:
        """Count a NodeClaim that timed out, with its conditions; `launching`: before it was launched."""
        pool = self._pool(claim)
        if pool is None or (launching and not self._counts):
            return
        conditions = Conditions(pool, NODEPOOL, self._clock.timestamp())
        if self._counts:
            failed = self._record(pool, False).count(False) >= _UNHEALTHY_FROM and conditions.status(HEALTHY) != "False"
        else:
            failed = conditions.status(HEALTHY) == "Unknown"
        if failed:
            reason, message = "RegistrationFailed", "Failed to register node"
            launched = of_claim.get("Launched")
            if launched is not None and launched["status"] != "True":
                reason, message = launched["reason"], launched["message"]
            conditions.set_false(HEALTHY, reason, message)
            self._write(pool, conditions)

    def reset(self, pool: Object) -> None:
        """Forgets past outcomes, since the NodePool or its NodeClass changed."""
        self._outcomes.pop(uid_of(pool), None)

    def recall(self, pool: Object, status: str) -> None:
        """After a restart, derives the outcomes of a NodePool from the status of its condition."""
        before = {"True": [True], "False": [False] * _UNHEALTHY_FROM}.get(status)
        if before is not None and uid_of(pool) not in self._outcomes:
            self._outcomes[uid_of(pool)] = deque(before, maxlen=_BUFFER)

    def _pool(self, claim: Object) -> Object | None:
        """The NodePool of a NodeClaim; where outcomes count, its owner only."""
        name = nodepool_of(claim)
        pool = self._view.get("NodePool", name) if name else None
        if pool is None:
            return None
        owned = any(ref.get("uid") == uid_of(pool) for ref in owners_of(claim))
        return pool if owned or not self._counts else None

    def _record(self, pool: Object, outcome: bool) -> deque[bool]:
        outcomes = self._outcomes.setdefault(uid_of(pool), deque(maxlen=_BUFFER))
        outcomes.append(outcome)
        return outcomes

    def _write(self, pool: Object, conditions: Conditions) -> None:
        with ignoring(404):
            self._writer.patch(
                "NodePool", name_of(pool), {"status": {"conditions": conditions.items}}, subresource="status"
            )
