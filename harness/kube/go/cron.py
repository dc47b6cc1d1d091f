"""Cron schedules as Kubernetes' Go code reads them: robfig/cron v3 (``parser.go``, ``spec.go``)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo

from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.go.text import quote
from lazyrecords import dataclass

__all__ = ["Schedule", "ScheduleError"]

_NAMES_OF_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES_OF_MONTHS, 1)}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_FIELDS: tuple[tuple[int, int, Mapping[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_INTEGER = re.compile(r"[+-]?[0-9]+")
_YEARS = 5
_HOUR = timedelta(hours=1)
_NANO = 1_000_000_000


class ScheduleError(ValueError):
    """Text that is no cron schedule; the message is that of robfig/cron."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The moments of a cron expression, by field; ``every`` nanoseconds for ``@every``, 0 otherwise.

    ``any_day``: a day field is a star, so that a day has to match both; else one of the two is enough.
    """

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = True
    every: int = 0

    @classmethod
    def parse(cls, text: str) -> "Schedule":
        """Read five fields or a macro. Raises ScheduleError."""
        text = text.strip()
        if text.startswith(_EVERY):
            try:
                return cls(every=max(parse_duration(text[len(_EVERY) :]) // _NANO * _NANO, _NANO))
            except DurationError as error:
                raise ScheduleError(f"failed to parse duration {text}: {error}") from error
        if text.startswith("@") and text not in _MACROS:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        parts = _MACROS.get(text, text).split()
        if len(parts) != len(_FIELDS):
            raise ScheduleError(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
        fields = [_field(part, *bounds) for part, bounds in zip(parts, _FIELDS, strict=True)]
        (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = fields
        return cls(minutes, hours, days, months, weekdays, any_day or any_weekday)

    def next_after(self, moment: datetime, zone: tzinfo | None = None) -> datetime | None:
        """Return the first moment of the schedule after `moment` (UTC), by the clocks of a time zone, UTC by default.

        It is None when there is none in five years. A time that clocks skip does not come, one that they show twice comes twice.
        """
        if self.every:
            return moment.replace(microsecond=0) + timedelta(microseconds=self.every / 1000)
        start = (moment + timedelta(seconds=1)).replace(microsecond=0)
        if start.second:
            start = start.replace(second=0) + timedelta(minutes=1)
        last_year = start.year + _YEARS
        while True:
            local = start if zone is None else start.astimezone(zone)
            if local.year > last_year:
                return None
            if not self._on(local):
                midnight = _midnight_after(local, zone, skip_month=local.month not in self.months)
                start = midnight if midnight > start else start + _HOUR
            elif local.hour not in self.hours:
                start += timedelta(minutes=60 - local.minute)
            elif local.minute not in self.minutes:
                following = min((minute for minute in self.minutes if minute > local.minute), default=60)
                start += timedelta(minutes=following - local.minute)
            else:
                return start

    def _on(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month and in_week if self.any_day else in_month or in_week


def _midnight_after(local: datetime, zone: tzinfo | None, *, skip_month: bool) -> datetime:
    """Return the beginning of the next day or month in UTC, as Go's time.Date finds it."""
    day = local.replace(day=1) + timedelta(days=32) if skip_month else local + timedelta(days=1)
    clock = datetime(day.year, day.month, 1 if skip_month else day.day, tzinfo=UTC)
    if zone is None:
        return clock
    near = clock - _offset(clock, zone)
    return clock - _offset(near, zone)


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _field(text: str, low: int, high: int, names: Mapping[str, int]) -> tuple[frozenset[int], bool]:
    """Return the values of one field, and whether it is a star."""
    values: set[int] = set()
    star = False
    for part in text.split(","):
        if part:
            ranged, starred = _range(part, low, high, names)
            values |= ranged
            star = star or starred
    return frozenset(values), star


def _range(text: str, low: int, high: int, names: Mapping[str, int]) -> tuple[set[int], bool]:
    bounds, *steps = text.split("/")
    ends = bounds.split("-")
    star = ends[0] in ("*", "?")
    if star:
        start, end = low, high
    else:
        if len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {text}")
        start = _number(ends[0], names)
        end = _number(ends[-1], names)
    step = 1
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {text}")
    if steps:
        step = _number(steps[0], {})
        if len(ends) == 1:
            end = high
        star = star and step <= 1
    if start < low:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise ScheduleError(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return set(range(start, end + 1, step)), star


def _number(text: str, names: Mapping[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    if not _INTEGER.fullmatch(text):
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if int(text) < 0:
        raise ScheduleError(f"negative number ({text}) not allowed: {text}")
    return int(text)
