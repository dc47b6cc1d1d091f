"""Virtual time: the only clock there is. It stands still unless somebody moves it: the engine, or a driver that follows the wall clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECOND = 1_000_000_000
"""Nanoseconds in a second: times and durations inside the engine are whole nanoseconds, so they add up exactly."""

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment from which all clocks count, and at which a world starts unless its clock says otherwise."""

LONG_AGO = -(1 << 62)
"""The time before every moment, of events that have not happened. Zero would be a moment, and worlds may begin before it."""

ZERO_TIME = "0001-01-01T00:00:00Z"
"""The time that Go reads where none is written: a Node's condition needs none (Kubernetes' NodeCondition)."""

_DAY = 86_400
_DIGITS = tuple(f"{number:02}" for number in range(60))
_EPOCH_UNIX = int(EPOCH.timestamp())


def nanoseconds(seconds: float) -> int:
    """A duration in seconds as whole nanoseconds."""
    return round(seconds * SECOND)


class Clock:
    """Virtual time in nanoseconds since `EPOCH`; `start` is the moment at which its world starts (negative: before `EPOCH`)."""

    __slots__ = ("_text", "_text_second", "leaving", "now", "start")

    def __init__(self, start: int = 0) -> None:
        self.now = self.start = start
        self.leaving: Callable[[], None] | None = None
        """A function that is called before time moves on, to look at the state that this moment ends with."""
        self._text_second = -1
        self._text = ""

    def advance_to(self, moment: int) -> None:
        """Move to a later moment. Raises ValueError when it lies in the past."""
        if moment < self.now:
            raise ValueError(f"time does not run backwards: {moment} < {self.now}")
        if self.leaving is not None and moment > self.now:
            self.leaving()
        self.now = moment

    @property
    def seconds(self) -> float:
        """Seconds since the start of the world."""
        return (self.now - self.start) / SECOND

    @property
    def unix(self) -> float:
        """Seconds since 1970, as other programs count them."""
        return _EPOCH_UNIX + self.now / SECOND

    def datetime(self) -> datetime:
        """Now, as an aware datetime (microseconds kept)."""
        return EPOCH + timedelta(microseconds=self.now // 1000)

    def timestamp(self) -> str:
        """Now as Kubernetes writes it: RFC 3339 in whole seconds, UTC."""
        second = self.now // SECOND
        if second != self._text_second:
            self._text_second = second
            self._text = render(self.now)
        return self._text


def render(moment: int) -> str:
    """A moment as Kubernetes writes it (`2026-01-01T00:00:00Z`)."""
    day, second = divmod(moment // SECOND, _DAY)
    hour, minute = divmod(second // 60, 60)
    return f"{_date(day)}T{_DIGITS[hour]}:{_DIGITS[minute]}:{_DIGITS[second % 60]}Z"


@lru_cache(maxsize=1024)
def _date(day: int) -> str:
    """The date of so many days after `EPOCH`."""
    return (EPOCH + timedelta(days=day)).date().isoformat()


@lru_cache(maxsize=8192)
def parse(text: str) -> int:
    """The moment that a Kubernetes timestamp names, in nanoseconds since `EPOCH`; may lie before it."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    delta = moment - EPOCH
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds * 1000
