"""A small fleet comes to rest, lets nodes go as Go does, and passes a week. Prints what it took."""

from __future__ import annotations

import pytest

from benchmarks.fleet import METHODS, parts_of
from benchmarks.scheduler import GO_LIMIT, oracle_path

PODS = 60


def test_a_fleet(capsys: pytest.CaptureFixture[str]) -> None:
    parts = {part.part: part for part in parts_of(f"fleet-{PODS}", "", oracle_path(), GO_LIMIT)}
    with capsys.disabled():
        print("", *parts.values(), sep="\n")
    assert parts.keys() == {"rest", *METHODS, "week"}
    assert not [part for part in parts.values() if "and Go" in part.facts]
    assert not parts["week"].facts.startswith("0 ")


def test_a_part_of_it() -> None:
    """What comes before a part is the same whether others are measured or not."""
    alone = {part.part: part.digest for part in parts_of("fleet-30", "week", None, GO_LIMIT)}
    assert alone.keys() == {"rest", "week"}
    assert alone["week"] == [part.digest for part in parts_of("fleet-30", "", None, GO_LIMIT)][-1]
