"""Long values in the report of a failure: the part that decides is shown, wherever it lies."""

from __future__ import annotations

from harness.scenario.expectations.matching import differences, nearest_and_last

PADDING = " ".join(f"word{number}" for number in range(200))


def found(expected: object, actual: object) -> str:
    (difference,) = differences(expected, actual)
    return difference.actual


def test_a_long_text_is_shown_from_before_the_place_where_it_comes_apart() -> None:
    shown = found(f"{PADDING} right", f"{PADDING} wrong")
    assert shown.endswith(" wrong")
    assert shown.startswith("… (")
    assert len(shown) <= 400


def test_a_part_that_is_wanted_is_looked_for() -> None:
    shown = found({"contains": "no capacity in zone eastus-1"}, f"{PADDING} no capacity in zone eastus-2 {PADDING}")
    assert "no capacity in zone eastus-2" in shown


def test_the_nearest_item_of_a_long_list_comes_first() -> None:
    items = [f"item {number} of a long list with many others" for number in range(40)] + ["team=blue:NoSchedule"]
    assert found(["team=red:NoSchedule"], items).startswith("[team=blue:NoSchedule, ")


def test_a_short_value_stays_whole() -> None:
    assert found("a", "b") == "b"
    assert found(["c"], ["a", "b"]) == "[a, b]"


def test_the_nearest_text_is_told_before_the_last_ones() -> None:
    texts = ["Pod/a Nominated: pod should schedule on x", *(f"Node/n DisruptionBlocked: {PADDING}" for _ in range(5))]
    assert nearest_and_last(texts, texts, "Nominated").startswith("the nearest: Pod/a Nominated: pod should")
    assert nearest_and_last([], [], "Nominated") == "the last: []"
