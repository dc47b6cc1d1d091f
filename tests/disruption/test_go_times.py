"""Times as Go's time.Parse reads them; the sentences are those of Go 1.26."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.kube.custom_resources.schema import parse_schema
from harness.kube.custom_resources.schema_validation import validate
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
        (
            "2026-01-08T02:00:00+25:61",
            'parsing time "2026-01-08T02:00:00+25:61": time zone offset minute out of range',
        ),
        ("2026-01-08T02:00:00Zx", 'parsing time "2026-01-08T02:00:00Zx": extra text: "x"'),
    ],
)
def test_no_times(text: str, words: str) -> None:
    """Go's sentence."""
    with pytest.raises(ValueError) as raised:
        parse_rfc3339(text)
    assert str(raised.value) == words


START = datetime(1970, 1, 1, tzinfo=UTC)
PYTHONS = [(each.replace(tzinfo=UTC) - START) // timedelta(microseconds=1) for each in (datetime.min, datetime.max)]


def _read(text: str) -> list[Any]:
    try:
        return [text, (parse_rfc3339(text) - START) // timedelta(microseconds=1), ""]
    except ValueError as error:
        return [text, None, str(error)]


def test_times_as_go_reads_them() -> None:
    """What Go says of each text (go_times.go); moments that Python has no date for are its first or its last."""
    lines = [*map(json.loads, Path(__file__).with_name("go_times.jsonl").read_text(encoding="utf-8").splitlines())]
    assert len(lines) == 448
    for text, moment, error, _ in lines:
        held = None if moment is None else min(max(moment, PYTHONS[0]), PYTHONS[1])
        assert _read(text) == [text, held, error]


def test_what_the_api_server_takes_for_a_date_time() -> None:
    """Another reader than Go's own, which looks at less (kube-openapi's strfmt.IsDateTime, by go_times.go)."""
    schema = parse_schema({"type": "string", "format": "date-time"})
    lines = [*map(json.loads, Path(__file__).with_name("go_times.jsonl").read_text(encoding="utf-8").splitlines())]
    assert [text for text, _, _, taken in lines if taken != (not validate(schema, text))] == []
