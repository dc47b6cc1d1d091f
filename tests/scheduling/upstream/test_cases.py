"""cases.yaml leads from the names of upstream's cases to tests and scenarios that exist, or says why there is none."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.scenario.language.files import load

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent.relative_to(ROOT)
CASES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / HERE / "cases.yaml").read_text())
NAMES = {name: entry for area in CASES.values() for name, entry in area.items()}
COUNTS = {"A": 44, "B": 35, "C": 35, "D": 38, "E": 29, "F": 55, "G": 25, "H": 39}
"""How many names each area promises, in the order of the file."""


def tried(entry: Any) -> list[str]:
    """The tests of an entry; none when it says why not."""
    if isinstance(entry, dict):
        return []
    return [entry] if isinstance(entry, str) else list(entry)


PLACES = [(name, place) for name, entry in NAMES.items() for place in tried(entry)]


@cache
def scenarios(file: str) -> frozenset[str]:
    return frozenset(case.scenario for scenario in load(ROOT / file) for case in scenario.cases)


def function(place: str) -> Any:
    """The test function of ``file.py::function``; fails when there is none."""
    file, _, name = place.partition("::")
    path = Path(file) if file.startswith("tests/") else HERE / file
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    assert hasattr(module, name), f"{place}: no such test"
    return getattr(module, name)


def named(test: Any) -> Iterator[str]:
    """What a test is called: the ids of its parameters, and its docstring."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            yield from (str(getattr(row, "id", "")) for row in mark.args[1])
    yield inspect.getdoc(test) or ""


def test_all_areas_are_complete() -> None:
    assert [len(area) for area in CASES.values()] == list(COUNTS.values())
    assert len(NAMES) == sum(COUNTS.values())


def test_whoever_is_not_tried_says_why() -> None:
    for name, entry in NAMES.items():
        assert tried(entry) or (list(entry) == ["not"] and len(entry["not"]) > 15), name
    untried = [area for area, names in CASES.items() if not any(tried(entry) for entry in names.values())]
    assert untried == []


@pytest.mark.parametrize("file", sorted({place.partition("::")[0] for _, place in PLACES}))
def test_every_place_exists(file: str) -> None:
    for name, place in PLACES:
        where, _, what = place.partition("::")
        if where != file:
            continue
        if where.startswith("scenarios/"):
            assert what in scenarios(where), place
        else:
            test = function(place)
            words = [" ".join(text.split()) for text in named(test)]
            assert where.startswith("tests/") or any(name in text for text in words), f"{place} does not name {name!r}"
