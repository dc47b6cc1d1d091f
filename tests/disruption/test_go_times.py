"""Times as Go's time.Parse reads them; the sentences are those of Go 1.26."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from harness.kube.go.times import parse_rfc3339

_HEAD = 'as "2006-01-02T15:04:05Z07:00": cannot parse'


@pytest.mark.parametrize("text", ["2026-01-08T02:00:00Z", "2026-01-08T03:00:00+01:00", "2026-01-07T20:30:00-05:30"])
def test_zones(text: str) -> None:
    """One moment, in three zones."""
    assert parse_rfc3339(text) == datetime(2026, 1, 8, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", f'parsing time "" {_HEAD} "" as "2006"'),
        ("soon", f'parsing time "soon" {_HEAD} "soon" as "2006"'),
        ("2026-01-08", f'parsing time "2026-01-08" {_HEAD} "" as "T"'),
        ("2026-01-08T02:00", f'parsing time "2026-01-08T02:00" {_HEAD} "" as ":"'),
        ("2026-01-08T02:00:00", f'parsing time "2026-01-08T02:00:00" {_HEAD} "" as "Z07:00"'),
        ("2026-13-08T02:00:00Z", 'parsing time "2026-13-08T02:00:00Z": month out of range'),
        ("2026-02-30T02:00:00Z", 'parsing time "2026-02-30T02:00:00Z": day out of range'),
        ("2026-01-08T02:00:00Zx", 'parsing time "2026-01-08T02:00:00Zx": extra text: "x"'),
    ],
)
def test_no_times(text: str, words: str) -> None:
    """Go's sentence."""
    with pytest.raises(ValueError) as raised:
        parse_rfc3339(text)
    assert str(raised.value) == words
