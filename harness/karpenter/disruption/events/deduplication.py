"""The events of a turn that are dropped as duplicates, and the time when a later turn would get them through.

Core ``pkg/events/recorder.go``: of the events of one reason about one object only the first within a time counts, whatever their text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain

from harness.engine.clock import LONG_AGO, Clock, nanoseconds
from harness.karpenter.disruption.events.nodes import About, NodeEvents, Told
from harness.karpenter.scheduling import SchedulingEvent

__all__ = ["EventDeduplication"]

_About = tuple[str, str, str]

_Heard = tuple[str, int | None, int]
"""An event's message, when it got through, and until when others are hidden here and dropped where they are published."""

_NOTHING: _Heard = ("", None, LONG_AGO)


class EventDeduplication:
    """The last event that got through, by object and reason. ``publish`` returns whether an event got through.

    The text of an event about a node is not made while all events of its reason are dropped anyway, unless `unheard` asks for it.
    """

    def __init__(self, clock: Clock, publish: Callable[[SchedulingEvent], bool]) -> None:
        self._clock, self._publish = clock, publish
        self._heard: dict[_About, _Heard] = {}
        self._silent: dict[About, int] = {}
        """The same of all that is said of a node for a reason."""
        self._hidden: list[int] = []
        self._said: set[SchedulingEvent] = set()
        self._unworded: dict[About, list[NodeEvents]] = {}
        """Events about nodes whose reasons are dropped anyway, in order, by what they are about."""

    def begin(self) -> None:
        """Begin a new turn."""
        self._hidden.clear()
        self._said.clear()
        self._unworded.clear()

    def say(self, events: Iterable[Told]) -> None:
        """Publishes the events of a turn, equal ones once."""
        now, silent = self._clock.now, self._silent.get
        for event in events:
            if isinstance(event, SchedulingEvent):
                self._say(event)
            elif silent(event.about, LONG_AGO) > now:
                self._unworded.setdefault(event.about, []).append(event)
            else:
                self._say_of_node(event)

    def _say_of_node(self, event_of_node: NodeEvents) -> None:
        for event in chain.from_iterable(self._unworded.pop(event_of_node.about, ())):
            if (until := self._hidden_until(event)) is not None:
                self._hidden.append(until)
            self._said.add(event)
        events = list(event_of_node)
        for event in events:
            self._say(event)
        if event_of_node.hides:
            self._silent[event_of_node.about] = min(
                [self._heard[_about(event)][2] for event in events], default=LONG_AGO
            )

    def _say(self, event: SchedulingEvent) -> None:
        count_before = len(self._said)
        self._said.add(event)
        if len(self._said) == count_before:
            return
        about, now, window = _about(event), self._clock.now, _window(event.dedupe_seconds)
        message, since, dropped = self._heard.get(about, _NOTHING)
        if since is None or now >= since + window:
            message, since = event.message, now
        elif message != event.message:
            self._hidden.append(since + window)
        if self._publish(event):
            dropped = since + window
        self._heard[about] = message, since, dropped

    def _hidden_until(self, event: SchedulingEvent) -> int | None:
        """When a dropped event of this turn would get through; None where the one that hides it has the same text."""
        message, since, _ = self._heard[_about(event)]
        if since is None or event in self._said or message == event.message:
            return None
        return since + _window(event.dedupe_seconds)

    def unheard(self, before: int | None = None) -> int | None:
        """The next moment at which a dropped event of this turn would get through, or ``before`` where that comes first (None: neither)."""
        now = self._clock.now
        moments = [moment for moment in (*self._hidden, before) if moment is not None and moment > now]
        earliest = min(moments, default=None)
        for about in sorted(self._unworded, key=self._silent.__getitem__):
            if earliest is not None and self._silent[about] >= earliest:
                break
            for event in chain.from_iterable(self._unworded[about]):
                until = self._hidden_until(event)
                if until is not None and until > now and (earliest is None or until < earliest):
                    earliest = until
        return earliest


def _about(event: SchedulingEvent) -> _About:
    return event.kind, event.object, event.reason


@lru_cache(maxsize=64)
def _window(seconds: float) -> int:
    """For how long an event is hidden: of these times there are few."""
    return nanoseconds(seconds)
