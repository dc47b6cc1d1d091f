"""When windows of disruption budgets are open, as robfig/cron and Karpenter's walk back in time have it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.engine.clock import parse
from harness.karpenter.disruption.budgets import UNLIMITED, allowed_disruptions
from harness.karpenter.disruption.changes import budget_changes
from harness.karpenter.disruption.schedules import is_within
from harness.kube.go.cron import Schedule, ScheduleError
from harness.kube.go.durations import parse_duration
from tests.disruption.fleet import nodepool

WEDNESDAY = "2026-01-07T10:30:00Z"


@pytest.mark.parametrize(
    ("schedule", "duration", "open_"),
    [
        ("0 10 * * *", "1h", True),
        ("0 9 * * *", "1h", False),
        ("0 11 * * *", "8h", False),
        ("0 22 * * *", "13h", True),
        ("30 10 * * *", "5m", True),  # its first instant
        ("25 10 * * *", "5m", False),  # its last
        ("@daily", "10h30m", False),
        ("@daily", "10h31m", True),
        ("@daily", "10h30m1s", True),  # a second before its last
        ("*/15 10 * * 3", "1m", True),
        ("0 9 * * mon-fri", "8h", True),
        ("0 9 * * 6,0", "8h", False),
        ("0 0 1,15 * wed", "11h", True),  # a day of the month or of the week will do
        ("0 0 1,15 * *", "11h", False),
        ("0 0 30 feb *", "1m", True),  # never comes, which Karpenter takes for long ago
        ("@every 2h", "3h", True),
        ("@every 3h", "2h", False),
        ("@hourly", "30m", False),
        ("30/10 * * * *", "1m", True),
        ("? 10 * * ?", "1m", True),
    ],
)
def test_windows(schedule: str, duration: str, open_: bool) -> None:
    assert is_within(schedule, parse_duration(duration), parse(WEDNESDAY)) is open_


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        ("", "expected exactly 5 fields, found 0: []"),
        ("* * * *", "expected exactly 5 fields"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("*/2/3 * * * *", "too many slashes: */2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("@never", "unrecognized descriptor: @never"),
        ("@every soon", "failed to parse duration @every soon"),
    ],
)
def test_what_is_no_schedule(schedule: str, text: str) -> None:
    with pytest.raises(ScheduleError) as raised:
        Schedule.parse(schedule)
    assert str(raised.value).startswith(text)


def test_the_next_hit_is_later_than_now() -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert Schedule.parse("0 12 * * *").next_after(noon) == datetime(2026, 2, 1, 12, tzinfo=UTC)
    assert Schedule.parse("0 0 29 2 *").next_after(noon) == datetime(2028, 2, 29, tzinfo=UTC)


def test_a_hit_in_the_fifth_year_from_now_is_the_latest_that_is_found() -> None:
    """robfig/cron spec.go, Next (yearLimit). 2100 is no leap year."""
    leap_day = Schedule.parse("0 0 29 2 *")
    assert leap_day.next_after(datetime(2099, 1, 1, tzinfo=UTC)) == datetime(2104, 2, 29, tzinfo=UTC)
    assert leap_day.next_after(datetime(2098, 12, 31, 12, tzinfo=UTC)) is None


def test_hits_come_as_robfig_cron_has_them() -> None:
    """The next hit of each schedule after each moment, "" where there is none, or null and the error (go_schedules.go)."""
    lines = Path(__file__).with_name("go_schedules.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 417
    for text, moment, said in map(json.loads, lines):
        if moment is None:
            with pytest.raises(ScheduleError) as raised:
                Schedule.parse(text)
            assert str(raised.value) == said
        else:
            found = Schedule.parse(text).next_after(datetime.fromisoformat(moment))
            assert (found.isoformat().replace("+00:00", "Z") if found else "") == said, (text, moment)


@pytest.mark.parametrize(
    ("budget", "moments"),
    [
        ({"schedule": "0 11 * * *", "duration": "1h"}, {"2026-01-07T11:00:00Z", "2026-01-07T12:00:00Z"}),
        ({"schedule": "0 10 * * *", "duration": "1h"}, {"2026-01-08T10:00:00Z", "2026-01-07T11:00:00Z"}),
        ({"schedule": "0 11 * * *"}, {"2026-01-07T11:00:00Z"}),
        ({"schedule": "30 10 * * *"}, {"2026-01-08T10:30:00Z"}),
        ({"schedule": "0 11 * * *", "duration": "soon"}, set()),
        ({"schedule": "soon", "duration": "1h"}, set()),
        ({"nodes": "1"}, set()),
    ],
)
def test_a_budget_changes_when_its_window_opens_and_when_it_closes(budget: dict, moments: set[str]) -> None:
    found = budget_changes([nodepool(budgets=[budget]), nodepool(budgets=[])], parse(WEDNESDAY))
    assert set(found) == {*map(parse, moments)}


def test_a_window_that_lasts_no_time_is_never_open() -> None:
    """Core pkg/apis/v1/nodepool.go, Budget.IsActive: no duration is one of zero."""
    pool = nodepool(budgets=[{"nodes": "0", "schedule": "30 10 * * *"}])
    assert allowed_disruptions(pool, 4, "Empty", parse(WEDNESDAY)) == UNLIMITED
