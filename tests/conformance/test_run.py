"""The runner itself: how cases are spread, and that no answerer, however broken, goes unnoticed."""

import sys
from pathlib import Path

import pytest

from tests.conformance.cases import ANSWERED, OPS, draw_cases
from tests.conformance.golden import GOLDEN
from tests.conformance.material import Material, read_json
from tests.conformance.processes import Answerer
from tests.conformance.report import split_lines
from tests.conformance.run import asked_of, spread

ANSWERER = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request.get("die"):
        os._exit(7)
    if request.get("hang"):
        time.sleep(600)
    if request["op"] == "catalog":
        known = request["name"]
    print(json.dumps({"id": request["id"], "answer": [request["op"], globals().get("known")]}), flush=True)
"""


@pytest.mark.parametrize("cases", [1, 7, 100, 20_000])
def test_cases_are_spread_without_losing_one(cases: int) -> None:
    parts = spread(cases, ["1.14.0", "1.13.1", "1.4.0"])
    assert sum(parts.values()) == cases
    assert set(parts) == {
        (release, op) for release in ("1.14.0", "1.13.1", "1.4.0") for op in asked_of(release, ANSWERED)
    }
    totals = [
        sum(count for (name, _), count in parts.items() if name == release) for release in ("1.14.0", "1.13.1", "1.4.0")
    ]
    assert max(totals) - min(totals) <= len(ANSWERED)


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    path = tmp_path / "answerer.py"
    path.write_text(ANSWERER)
    return [sys.executable, str(path)]


def test_a_death_is_the_reply_and_the_next_process_is_prepared_again(program: list[str]) -> None:
    with Answerer(program) as asked:
        asked.prepare([{"op": "catalog", "name": "small"}])
        replies = asked.ask([{"op": "a"}, {"op": "b", "die": True}, {"op": "c"}]).replies
    assert replies[0] == {"answer": ["a", "small"]}
    assert "exit status 7" in replies[1]["ended"]
    assert replies[2] == {"answer": ["c", "small"]}


def test_an_answerer_that_says_nothing_is_ended(program: list[str]) -> None:
    with Answerer(program, timeout=2.0) as asked:
        replies = asked.ask([{"op": "a"}, {"op": "b", "hang": True}, {"op": "c"}]).replies
    assert ["answer" in reply for reply in replies] == [True, False, True]


def test_an_answerer_that_keeps_dying_is_given_up(program: list[str]) -> None:
    with Answerer(program) as asked, pytest.raises(RuntimeError, match="ended"):
        asked.ask([{"op": "a", "die": True}] * 60)


def test_the_same_seed_gives_the_same_cases() -> None:
    folder = GOLDEN / "v1.14.0"
    catalogs = read_json(folder / "catalogs.json.gz")
    types = {"southcentralus": catalogs["recorded"], "westcentralus": catalogs["recorded"]}
    material = Material("1.14.0", "1.14.0", read_json(folder / "data.json.gz"), [], types, catalogs)
    for op in set(OPS) - {"validate_nodepool", "update"}:  # which need the schemas of the definitions
        few = draw_cases(op, 5, 3, material)
        assert few == draw_cases(op, 9, 3, material)[:5]
        assert few != draw_cases(op, 5, 4, material)


def test_releases_that_answer_different_ops_stand_in_one_table() -> None:
    lines = split_lines(spread(6, ["1.14.0", "1.7.2"], ["lifetimes", "azure_drift"]))
    assert [line.split() for line in lines] == [
        ["cases", "lifetimes", "azure_drift"],
        ["1.14.0", "2", "1"],
        ["1.7.2", "3", "-"],
    ]
