"""Which of the events that a turn publishes are hidden, because another one of their reason came before: a later turn says them again.

Core ``pkg/events/recorder.go``: events of one reason about one object are one for a while, whatever they say.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.clock import Clock, nanoseconds
from harness.karpenter.scheduling import SchedulingEvent

__all__ = ["EventDeduplication"]

_About = tuple[str, str, str]


class EventDeduplication:
    """What was heard last, by object and reason."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._heard: dict[_About, tuple[str, int]] = {}
        self._hidden: list[int] = []

    def begin(self) -> None:
        """A new turn."""
        self._hidden.clear()

    def say(self, event: SchedulingEvent) -> None:
        """Takes note of an event that is published now."""
        about = event.kind, event.object, event.reason
        now, last = self._clock.now, self._heard.get(about)
        if last is not None:
            message, since = last
            until = since + nanoseconds(event.dedupe_seconds)
            if now < until:
                if message != event.message:
                    self._hidden.append(until)
                return
        self._heard[about] = event.message, now

    def unheard(self) -> Sequence[int]:
        """The moments from which on events of this turn would be heard."""
        return self._hidden
