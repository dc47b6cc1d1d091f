"""The count of the design documents' rows: what it counts, and that every row is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.scenario.language.files import load
from tests.corpus.mutations.cells import RECORDED
from tests.corpus.seed_count import MACHINE, POD, REQUIRES, SETS, VM, Cell, cells_of, lines, seed_keys

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def cells(name: str) -> set[Cell]:
    return {cell for scenario in load(SCENARIOS / name) for case in scenario.cases for cell in cells_of(case)}


@pytest.mark.parametrize("release", RECORDED)
def test_every_row_is_asked_of_every_side_in_every_recorded_release(release: str) -> None:
    found = cells(f"labels/keys-{release}.yaml") | cells(f"rejected/required-keys-{release}.yaml")
    missing = {(release, key, side) for key in seed_keys() for side in (POD, SETS, REQUIRES, VM)} - found
    assert missing == set()
    assert any(side == MACHINE for _, _, side in found) == (release not in ("1.4.0", "1.6.5", "1.6.6"))


def test_only_what_held_counts_and_a_run_about_something_else_says_nothing() -> None:
    key, other = sorted(seed_keys())[:2]
    tried: list[Cell] = [("1.6.5", key, POD), ("1.14.0", key, POD), ("1.14.0", other, VM), ("1.14.0", "no seed", VM)]
    told = list(lines(tried, tried[1:]))
    assert [line.split() for line in told[1:3]] == [["1.6.5", "0", *"----"], ["1.14.0", "1", "-", "-", "1", "-"]]
    assert told[-1] == f"2 of 3 cells held: 2 of the {len(seed_keys())} rows, 2 releases"
    assert list(lines([("1.14.0", "no seed", VM)], [])) == []
    told = list(lines(tried[:1], tried[:1], tried[1:]))
    assert told[-1] == f"1 of 1 cells held: 1 of the {len(seed_keys())} rows, 1 releases; 2 cells skipped"
    assert list(lines([], [], tried)) == []


FILE = "scenarios/labels/claims-1.4.0.yaml"


def test_all_ways_to_run_the_corpus_count_alike() -> None:
    """In pytest's own process, in those of `--processes`, and in xdist's workers."""
    pytest.importorskip("xdist")
    counted = []
    for words in ((), ("--processes", "2"), ("-n", "2")):
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, FILE],
            cwd=SCENARIOS.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        counted.append(run.stdout.partition("rows of the design documents")[2].splitlines()[1:4])
    assert counted[0][1].startswith("1.4.0 ")
    assert counted[0] == counted[1] == counted[2]
