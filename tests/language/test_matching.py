"""Expected beside found: partial maps, lists in any order, conditions, quantities, and what a difference says."""

from __future__ import annotations

from typing import Any

import pytest

from harness.scenario.expectations.matching import ABSENT, differences, show

MATCHING = [
    ("a", "a"),
    ("3", 3),  # the harness's own keys hold text
    ("true", True),
    ("1.5", 1.5),
    ("null", None),
    ({}, {"a": 1}),
    ({"a": "1"}, {"a": 1, "b": 2}),
    ([], []),
    ([{"a": "1"}, {"b": "2"}], [{"b": 2}, {"a": 1, "c": 3}]),
    # the first expected item fits both, the second only one: an assignment exists
    ([{"a": "1"}, {"a": "1", "b": "2"}], [{"a": 1, "b": 2}, {"a": 1}]),
    ({"exactly": ["a", "b"]}, ["b", "a"]),
    ({"exactly": {"a": "1"}}, {"a": 1}),
    ({"inOrder": ["a", "b"]}, ["a", "b"]),
    ({"count": "2"}, ["a", "b"]),
    ({"count": {"atLeast": "1"}}, ["a", "b"]),
    ({"contains": "b"}, ["a", "b"]),
    ({"in": ["a", "b"]}, "b"),
    ({"not": ["a", "b"]}, "c"),
    ({"not": ["a"]}, ABSENT),
    ({"contains": "ell"}, "hello"),
    ({"matches": "^h.*o$"}, "hello"),
    ({"atLeast": "1Gi", "below": "2Gi"}, "1536Mi"),
    ({"above": "0"}, 0.1),
    ({"atMost": "500m"}, "0.5"),
    ({"absent": "true"}, ABSENT),
    ({"a": {"absent": "true"}}, {"b": 1}),
    ({"exactly": {"in": "a literal key"}}, {"in": "a literal key"}),
]


@pytest.mark.parametrize(("expected", "actual"), MATCHING)
def test_matches(expected: Any, actual: Any) -> None:
    assert differences(expected, actual) == []


DIFFERING = [
    ("a", "b", ["expected a, found b"]),
    ("a", ABSENT, ["expected a, found nothing"]),
    ("1", "1000m", ["expected 1, found 1000m"]),
    ({"a": {"b": "1"}}, {"a": {"b": 2}}, ["a.b: expected 1, found 2"]),
    ({"a": "1", "b": "2"}, {}, ["a: expected 1, found nothing", "b: expected 2, found nothing"]),
    ({"a": "1"}, "text", ["expected {a: 1}, found text"]),
    ([], ["a"], ["expected [], found [a]"]),
    (["a", "a"], ["a"], ["[1]: expected a, found no further item in [a]"]),
    (
        [{"key": "x", "effect": "NoSchedule"}],
        [{"key": "y"}, {"key": "x", "effect": "NoExecute"}],
        ["[0].effect: expected NoSchedule, found NoExecute (the nearest item is {key: x, effect: NoExecute})"],
    ),
    ({"exactly": ["a"]}, ["a", "b"], ["expected exactly [a], found also [b]"]),
    ({"inOrder": ["a", "b"]}, ["b", "a"], ["[0]: expected a, found b", "[1]: expected b, found a"]),
    ({"in": ["a", "b"]}, "c", ["expected one of [a, b], found c"]),
    ({"atLeast": "2Gi"}, "1Gi", ["expected at least 2Gi, found 1Gi"]),
    ({"above": "1"}, "text", ["expected more than 1, found text"]),
    ({"absent": "true"}, "a", ["expected nothing, found a"]),
    ({"count": "3"}, [1], ["expected the number of items 3, found [1]"]),
    ({"contains": "x"}, ABSENT, ["expected a text with x, found nothing"]),
]


@pytest.mark.parametrize(("expected", "actual", "texts"), DIFFERING)
def test_differs(expected: Any, actual: Any, texts: list[str]) -> None:
    assert [str(difference) for difference in differences(expected, actual)] == texts


@pytest.mark.parametrize(("expected", "actual"), [("1", "1000m"), ("1Gi", "1024Mi"), ("0.1", "100m")])
def test_quantities_compare_by_what_they_mean(expected: str, actual: str) -> None:
    assert differences(expected, actual, quantities=True) == []
    assert differences("2", actual, quantities=True) != []


def test_long_values_are_cut() -> None:
    assert len(show(["item"] * 1000)) == 400
