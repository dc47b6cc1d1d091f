"""Detects nodes that are replaced again and again although nothing happens: each replacement is soon disrupted, too."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.runaway import Loop, Runaway, RunawayDetector
from harness.karpenter.disruption.methods.method import EMPTY
from harness.kube.api.labels import INSTANCE_TYPE
from harness.wording import duration_text
from lazyrecords import dataclass

__all__ = ["BOUND", "SHORT_LIFE", "Churn", "Departure"]

BOUND = 5
"""So many nodes of a kind in a row, each made after the one before had to go, are a runaway."""

SHORT_LIFE = 3600.0
"""Seconds. What drifts every week, or is consolidated every night, is no runaway."""


_COURSE = "a node is made in place of another, and is hardly there when it has to go itself"

_TICK = 1.0
"""The precision of creation times, in seconds."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A node that Karpenter decided to remove; ``at`` and ``created`` are in virtual seconds.

    ``reason`` is Empty, Drifted or Underutilized, ``because`` the kind of drift in Karpenter's words, empty for other reasons.
    """

    nodeclaim: str
    nodepool: str
    size: str
    created: float
    at: float
    reason: str
    because: str = ""
    replacements: tuple[str, ...] = ()

    @property
    def kind(self) -> tuple[str, str, str]:
        """Departures count as repeated when NodePool, reason and size are the same."""
        return self.nodepool, self.reason, self.size


class Churn:
    """Remembers when a node of each kind was last removed. Each runaway is reported once."""

    def __init__(self, bound: int = BOUND) -> None:
        self._detector = RunawayDetector(bound, _COURSE)
        self._last: dict[tuple[str, str, str], Departure] = {}
        self._told: set[tuple[str, str, str]] = set()

    def forget(self) -> None:
        """Start again, because somebody changed something from outside: further departures may be its consequence."""
        for kind in self._last:
            self._detector.forget(_subject(kind))
        self._last.clear()
        self._told.clear()

    def departs(self, departures: Sequence[Departure]) -> Runaway | None:
        """Record the departures of one decision. Return the runaway that this completes, if any."""
        for departure in departures:
            if departure.reason == EMPTY:
                continue  # its pods have ended: workloads that come and go bring such nodes, and take them
            before = self._last.get(departure.kind)
            later = before is not None and departure.created + _TICK >= before.at
            if before is not None and not later:
                continue  # one of those that were there already
            again = later and departure.at - departure.created < SHORT_LIFE
            self._last[departure.kind] = departure
            if not again:
                self._detector.forget(_subject(departure.kind))
            lived = f"lived {duration_text(departure.at - departure.created)} and has to go: {departure.because or departure.reason}"
            made = tuple(f"NodeClaim/{name}" for name in departure.replacements)
            loop = Loop(
                departure.kind, departure.at, made, None, f"NodeClaim/{departure.nodeclaim} ({departure.size}) {lived}"
            )
            runaway = self._detector.record(_subject(departure.kind), loop)
            if runaway is not None and departure.kind not in self._told:
                self._told.add(departure.kind)
                return runaway
        return None


def _subject(kind: tuple[str, str, str]) -> str:
    nodepool, reason, size = kind
    return f"NodePool/{nodepool}, {reason} {size or INSTANCE_TYPE}"
