"""Karpenter's memory about machines: nominations, marks for deletion, and when consolidation has to look again.

A restart of its process forgets all of it. Source: core pkg/controllers/state/cluster.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.names import NodeClaimName, ProviderId

__all__ = ["Marks"]

_NOMINATED_AT_LEAST = 10.0
_LOOK_AGAIN = 300 * SECOND


class Marks:
    """Shared by the provisioner, which nominates, and the disruption controller, which marks for deletion.

    `longest_batch` is the maximum of the batch window in seconds; a nomination lasts twice as long, at least 10 s.
    """

    def __init__(self, clock: Clock, longest_batch: float) -> None:
        self._clock = clock
        self.window = nanoseconds(max(2 * longest_batch, _NOMINATED_AT_LEAST))
        self.nominated: dict[ProviderId, int] = {}
        """Until when machines are nominated, by provider id, in nanoseconds since the start."""
        self.deleting: frozenset[NodeClaimName] = frozenset()
        """The NodeClaims that a command is about to delete."""
        self.changes = 0
        """Grows with every change of `deleting`."""
        self._unsettled = clock.now
        self._expected: dict[str, NodeClaimName] = {}

    def expect(self, nodeclaim: NodeClaimName, pods: Iterable[str]) -> None:
        """Expect these pods (``namespace/name``) on a NodeClaim's machine, and no longer on another one."""
        self._expected.update(dict.fromkeys(pods, nodeclaim))

    def no_longer_expect(self, pods: Iterable[str]) -> None:
        """Expect these pods nowhere: they cannot be scheduled, or are gone."""
        for pod in pods:
            self._expected.pop(pod, None)

    def expected_on(self, nodeclaim: NodeClaimName) -> Sequence[str]:
        """The pods (``namespace/name``, sorted) that their last simulation placed on a NodeClaim's machine."""
        return sorted(pod for pod, claim in self._expected.items() if claim == nodeclaim)

    def nominate(self, provider_id: ProviderId) -> None:
        """Nominates a machine for pending pods from now on: for a while it is not disrupted."""
        self.nominated[provider_id] = self._clock.now + self.window

    def nominations(self) -> Sequence[int]:
        """The moments, in nanoseconds since the start, at which the present nominations end."""
        now = self._clock.now
        self.nominated = {machine: until for machine, until in self.nominated.items() if until > now}
        return list(self.nominated.values())

    def mark(self, claims: Iterable[NodeClaimName]) -> None:
        """Marks NodeClaims for deletion: their room no longer counts, and their pods are rescheduled."""
        self._set(self.deleting | frozenset(claims))

    def unmark(self, claims: Iterable[NodeClaimName]) -> None:
        """Remove the marks: the NodeClaims stay after all, or are gone."""
        self._set(self.deleting - frozenset(claims))

    def _set(self, deleting: frozenset[NodeClaimName]) -> None:
        if deleting != self.deleting:
            self.deleting = deleting
            self.changes += 1

    def unsettle(self) -> None:
        """Note that something happened which may make consolidation possible (core's MarkUnconsolidated)."""
        self._unsettled = self._clock.now

    def unsettled_since(self) -> int:
        """When something last happened that may make consolidation possible; five minutes later counts as that, too (core's
        ConsolidationState)."""
        if self._clock.now - self._unsettled >= _LOOK_AGAIN:
            self._unsettled = self._clock.now
        return self._unsettled

    @property
    def looks_again_at(self) -> int:
        """When these five minutes are over."""
        return self._unsettled + _LOOK_AGAIN
