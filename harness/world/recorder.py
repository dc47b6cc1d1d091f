"""What controllers told: events, log lines, and what they wanted on Nodes. The Sink of a world."""

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
    """A log line of a controller; `call` is the number of the last call of Azure before it, 0 where nobody knows."""

    at: float
    level: str
    controller: str
    message: str
    values: Mapping[str, object]
    call: int = 0


# Below, what of an event makes it the same as another: DedupeValues in core's events.
_BY_NAME = frozenset(
    {"AwaitingVolumeDetachment", "Disrupted", "Evicted", "FailedDraining", "TerminationGracePeriodExpiring"}
)
"""Reasons of events that are the same for all objects of one name, whatever their Namespace and uid; the others go by uid."""
_TOLD_APART = frozenset(
    {"DisruptionLaunching", "DisruptionTerminating", "DoNotDisruptUntil", "FailedConsistencyCheck"}
    | {"InvalidDoNotDisruptAnnotation"}
)
"""Reasons of events that are others when their messages differ; of the rest one message hides another."""
_OF_COMMANDS = frozenset({"ConsolidationCandidate", "ConsolidationRejected"})
"""Reasons of events that are others when all but the savings at their end differs."""


def _told_apart(kind: str, reason: str, message: str) -> str:
    """The part of a message by which an event is told apart from others of its reason about its object."""
    if reason in _OF_COMMANDS:
        return message.rpartition(" (savings: ")[0]
    apart = reason in _TOLD_APART or (kind == "NodePool" and reason == "DisruptionBlocked")
    return message if apart else ""


@lru_cache(maxsize=64)
def _window(seconds: float) -> int:
    """The nanoseconds in which an event is dropped: of these times there are few."""
    return nanoseconds(seconds)


class Recorder:
    """Keeps everything in order of arrival."""

    def __init__(
        self, clock: Clock, revision: Callable[[], int] = lambda: 0, calls: Callable[[], int] = lambda: 0
    ) -> None:
        """`revision` is the cluster's: it orders assertions among writes. `calls`: how many Azure has got so far."""
        self._events: list[Event] = []
        self._untold: deque[tuple[float, Object, str, str, str, str]] = deque()
        """Events that nobody has asked for yet, as they came: most worlds are never asked."""
        self.lines: list[LogLine] = []
        self.assertions: list[Assertion] = []
        self.launches: list[Launch] = []
        self.rejections: list[Any] = []
        self.rejected_at: list[float] = []
        """When each of them came, in virtual seconds."""
        self.disruptions: list[Disruption] = []
        self._revision = revision
        self._calls = calls
        self._clock = clock
        self._last: dict[tuple[str, str, str, str], int] = {}
        """When an event was last told, by source, reason, object, and by message where that tells them apart."""

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
        """Records an event unless one of this reason about this object came within the dedupe window (core pkg/events/recorder.go).

        Returns whether it is recorded.
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
            at, obj, *told = self._untold.popleft()
            self._events.append(Event(at, key_of(obj), *told))
        return self._events

    def forget(self, source: str = "karpenter") -> None:
        """A controller's process ends: the next one has told nothing yet, and tells anew what it finds."""
        self._last = {slot: at for slot, at in self._last.items() if slot[0] != source}

    def log(self, level: str, controller: str, message: str, **values: object) -> None:
        """Records a log line."""
        self.lines.append(LogLine(self._clock.seconds, level, controller, message, values, self._calls()))

    def asserted(
        self, node: str, by: str, labels: Mapping[str, tuple[str, str]], *, revision: int | None = None
    ) -> None:
        """Records what a sender is about to write to a Node, or was at an earlier revision."""
        self.assertions.append(Assertion(self._revision() if revision is None else revision, node, by, labels))

    def refused(self, node: str, by: str, labels: Mapping[str, tuple[str, str]], why: str) -> None:
        """Records labels that were not even sent to the API server."""
        self.assertions.append(Assertion(self._revision(), node, by, labels, refused=True))

    def rejected(self, rejections: Sequence[Any]) -> None:
        """Records refusals; one that is known already counts once."""
        for each in rejections:
            if each not in self.rejections:
                self.rejections.append(each)
                self.rejected_at.append(self._clock.seconds)

    def launched(self, vm: str, path: str, layers: Sequence[LabelLayer], withheld: Sequence[LabelLayer]) -> None:
        """Records what Karpenter gave a machine or its NodeClaim."""
        self.launches.append(Launch(self._revision(), vm, path, tuple(layers), tuple(withheld)))

    def disrupted(self, disruption: Disruption) -> None:
        """Records a decision to disrupt nodes."""
        self.disruptions.append(disruption)
