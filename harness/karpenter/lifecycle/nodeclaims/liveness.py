"""The liveness step: NodeClaims that are not launched or registered in time are deleted (core …/lifecycle/liveness.go)."""

from __future__ import annotations

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.ports import Sink, Writer
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.lifecycle.nodepools.health import RegistrationHealth
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import name_of
from harness.kube.api.status import ignoring

LAUNCH_TIMEOUT = 5 * 60.0
REGISTRATION_TIMEOUT = 15 * 60.0


class Liveness:
    """Deletes a NodeClaim that is not launched after 5 minutes (in releases with that timeout) or not registered after 15."""

    def __init__(self, clock: Clock, writer: Writer, sink: Sink, health: RegistrationHealth, core: CoreRelease) -> None:
        self._clock = clock
        self._writer = writer
        self._sink = sink
        self._health = health
        self._launch_timeout = core.launch_timeout

    def step(self, draft: Draft) -> float | None:
        """Return in how many seconds to look again; None when there is nothing to wait for. Raises ApiError."""
        conditions = draft.conditions
        if conditions.is_true("Registered"):
            return None
        if self._launch_timeout and not conditions.is_true("Launched"):
            left = self._left(conditions.since("Launched"), LAUNCH_TIMEOUT)
            if left > 0:
                return left
            self._delete(draft, "launch_timeout", LAUNCH_TIMEOUT)
            return None
        left = self._left(conditions.since("Registered"), REGISTRATION_TIMEOUT)
        if left > 0:
            return left
        self._delete(draft, "registration_timeout", REGISTRATION_TIMEOUT)
        return None

    def _left(self, since: str, timeout: float) -> float:
        return timeout - (self._clock.now - parse(since)) / SECOND

    def _delete(self, draft: Draft, reason: str, timeout: float) -> None:
        claim = draft.object
        self._health.failed(claim, draft.conditions, launching=timeout == LAUNCH_TIMEOUT)
        name = name_of(claim)
        if self._launch_timeout:
            self._sink.log(
                "debug",
                "nodeclaim.lifecycle",
                "terminating due to timeout",
                NodeClaim=name,
                reason=reason,
                timeout=timeout,
            )
        else:
            message = "terminating due to registration ttl"
            self._sink.log("debug", "nodeclaim.lifecycle", message, NodeClaim=name, ttl=timeout)
        with ignoring(404):
            self._writer.delete("NodeClaim", name)
