"""Recorded machines, errors and runs are as computed here; the page has the figures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.recorded.__main__ import table
from tests.recorded.rows import FOLDER, Row, Verdict, all_rows, entries

PAGE = FOLDER.parents[1] / "docs" / "how-true.md"


@cache
def rows() -> tuple[Row, ...]:
    return tuple(all_rows())


def test_nothing_that_was_recorded_differs() -> None:
    assert [row for row in rows() if row.verdict is Verdict.DIFFERENT] == []


def test_every_recorded_fact_is_a_row() -> None:
    files = ("machines.yaml", "run.yaml")
    facts = sum(len(entry["facts"]) + ("image" in entry) for name in files for entry in entries(name))
    errors = sum(1 if "limit" in entry else 2 + ("status" in entry) for entry in entries("errors.yaml"))
    assert len(rows()) == facts + errors


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    written = text.partition("<!-- recorded -->\n")[2].partition("\n<!-- /recorded -->")[0]
    assert written.splitlines() == list(table(rows())), "python -m tests.recorded --write docs/how-true.md"


@pytest.mark.parametrize(
    "row", [row for row in rows() if row.verdict is Verdict.EXACT and row.field.endswith("ephemeral-storage")][:4]
)
def test_another_figure_is_a_difference(row: Row) -> None:
    assert replace(row, recorded="1Ki").verdict is Verdict.DIFFERENT
    assert (
        replace(row, recorded=f"{row.recorded}0" if row.recorded.isdigit() else f"9{row.recorded}").verdict
        is Verdict.DIFFERENT
    )


@pytest.mark.parametrize(
    ("recorded", "verdict"), [("1000", Verdict.EXACT), ("1001", Verdict.NEAR), ("1002", Verdict.DIFFERENT)]
)
def test_a_bound_is_the_share_of_the_recorded_value_that_may_be_missing(recorded: str, verdict: Verdict) -> None:
    assert Row("", "", "", recorded, "1000", bound=0.001).verdict is verdict
