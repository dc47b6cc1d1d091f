"""The Sink of a world: events, log lines, and the labels that controllers wanted on Nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.clusters.provenance import Assertion, Launch
from harness.engine.clock import Clock, nanoseconds
from harness.engine.disruptions import Disruption
from harness.engine.label_layers import LabelLayer
from harness.kube.api.objects import Key, Object, key_of
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """A Kubernetes Event; `at` is in virtual seconds since the start."""

    at: float
    object: Key
    type: str
    reason: str
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A log line of a controller; `call` is the number of the last call of Azure before it, 0 where it is unknown."""

    at: float
    level: str
    controller: str
    message: str
    values: Mapping[str, object]
    call: int = 0


# The parts of an event by which it equals another: DedupeValues in core's events.
_BY_NAME = frozenset(
    {"AwaitingVolumeDetachment", "Disrupted", "Evicted", "FailedDraining", "TerminationGracePeriodExpiring"}
)
"""Reasons of events that are the same for all objects of one name, whatever their Namespace and uid; the others go by uid."""
_TOLD_APART = frozenset(
    {"DisruptionLaunching", "DisruptionTerminating", "DoNotDisruptUntil", "FailedConsistencyCheck"}
    | {"InvalidDoNotDisruptAnnotation"}
)
"""Reasons of events that differ with their messages; of the rest one message hides another."""
_OF_COMMANDS = frozenset({"ConsolidationCandidate", "ConsolidationRejected"})
"""Reasons of events that differ with all but the savings at their end."""


def _told_apart(kind: str, reason: str, message: str) -> str:
    """Return the part of a message by which an event differs from others of its reason about its object."""
    if reason in _OF_COMMANDS:
        return message.rpartition(" (savings: ")[0]
    apart = reason in _TOLD_APART or (kind == "NodePool" and reason == "DisruptionBlocked")
    return message if apart else ""


@lru_cache(maxsize=64)
def _window(seconds: float) -> int:
    """Return the nanoseconds in which an event is dropped: few different times occur."""
    return nanoseconds(seconds)


class Recorder:
    """Keeps everything in order of arrival."""

    def __init__(
        self, clock: Clock, revision: Callable[[], int] = lambda: 0, calls: Callable[[], int] = lambda: 0
    ) -> None:
        """`revision` is the cluster's: it orders assertions among writes. `calls` returns the number of calls of Azure so far."""
        self._events: list[Event] = []
        self._untold: deque[tuple[float, Object, str, str, str, str]] = deque()
        """Events that were not read yet, as they came: in most worlds they never are."""
        self.lines: list[LogLine] = []
        self.assertions: list[Assertion] = []
        self.launches: list[Launch] = []
        self.rejections: list[Any] = []
        self.rejected_at: list[float] = []
        """The time of each rejection, in virtual seconds."""
        self.disruptions: list[Disruption] = []
        self._revision = revision
        self._calls = calls
        self._clock = clock
        self._last: dict[tuple[str, str, str, str], int] = {}
        """The last time of an event, by source, reason, object, and by message where that matters."""

    def event(
        self,
        obj: Object,
        type: str,
        reason: str,
        message: str,
        *,
        source: str = "karpenter",
        dedupe_seconds: float = 120,
    ) -> bool:
        """Record an event unless one of this reason about this object came within the dedupe window (core pkg/events/recorder.go).

        Return whether it is recorded.
        """
        now = self._clock.now
        if dedupe_seconds:
            meta, kind = obj["metadata"], obj["kind"]
            about = meta["name"] if reason in _BY_NAME else meta.get("uid") or f"{kind}/{meta['name']}"
            slot = (source, reason, about, _told_apart(kind, reason, message))
            last = self._last.get(slot)
            if last is not None and now - last < _window(dedupe_seconds):
                return False
            self._last[slot] = now
        self._untold.append((self._clock.seconds, obj, type, reason, message, source))
        return True

    @property
    def events(self) -> list[Event]:
        """All events, oldest first."""
        while self._untold:
            at, obj, *parts = self._untold.popleft()
            self._events.append(Event(at, key_of(obj), *parts))
        return self._events

    def forget(self, source: str = "karpenter") -> None:
        """Forget the events of a controller whose process ended: the next one sends them anew."""
        self._last = {slot: at for slot, at in self._last.items() if slot[0] != source}

    def log(self, level: str, controller: str, message: str, **values: object) -> None:
        """Record a log line."""
        self.lines.append(LogLine(self._clock.seconds, level, controller, message, values, self._calls()))

    def asserted(
        self, node: str, by: str, labels: Mapping[str, tuple[str, str]], *, revision: int | None = None
    ) -> None:
        """Record the labels that a sender is about to write to a Node, or was at an earlier revision."""
        self.assertions.append(Assertion(self._revision() if revision is None else revision, node, by, labels))

    def refused(self, node: str, by: str, labels: Mapping[str, tuple[str, str]], why: str) -> None:
        """Record labels that were not even sent to the API server."""
        self.assertions.append(Assertion(self._revision(), node, by, labels, refused=True))

    def rejected(self, rejections: Sequence[Any]) -> None:
        """Record refusals; a known one counts once."""
        for rejection in rejections:
            if rejection not in self.rejections:
                self.rejections.append(rejection)
                self.rejected_at.append(self._clock.seconds)

    def launched(self, vm: str, path: str, layers: Sequence[LabelLayer], withheld: Sequence[LabelLayer]) -> None:
        """Record the labels that Karpenter gave a machine or its NodeClaim."""
        self.launches.append(Launch(self._revision(), vm, path, tuple(layers), tuple(withheld)))

    def disrupted(self, disruption: Disruption) -> None:
        """Record a decision to disrupt nodes."""
        self.disruptions.append(disruption)
