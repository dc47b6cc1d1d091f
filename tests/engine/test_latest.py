"""What a cache keeps: the values that were asked for last."""

import pytest

from harness.latest import Latest, LatestOf


def test_the_value_that_nobody_asked_for_the_longest_time_goes() -> None:
    made: list[str] = []
    kept: Latest[str, str] = Latest(2)

    def of(key: str) -> str:
        return kept.of(key, lambda: made.append(key) or key.upper())  # type: ignore[func-returns-value]

    assert [of("a"), of("b"), of("a")] == ["A", "B", "A"]
    assert kept.keys() == ("b", "a")
    of("c")
    assert kept.keys() == ("a", "c")
    of("b")
    assert made == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_nothing_is_kept_of_what_cannot_be_made() -> None:
    kept: Latest[str, int] = Latest(1)
    kept.of("a", lambda: 1)
    with pytest.raises(ValueError):
        kept.of("b", lambda: int("b"))
    assert kept.keys() == ("a",)


def test_equal_objects_are_told_apart_by_identity() -> None:
    kept: LatestOf[list[int], int] = LatestOf(3)
    one, other = [1], [1]
    assert [kept.of(each, lambda each=each: id(each)) for each in (one, other, one)] == [id(one), id(other), id(one)]  # type: ignore[misc]
    assert kept.of(one, lambda: 7, "as another release sees it") == 7
    assert kept.of(one, lambda: 8, "as another release sees it") == 7
    assert len(kept) == 3


def test_an_object_is_kept_as_long_as_what_was_made_of_it() -> None:
    """Else a new one could get its identity, and what was made of the old one."""
    kept: LatestOf[list[int], str] = LatestOf(1)
    found = [kept.of([number], lambda number=number: f"of {number}") for number in range(50)]  # type: ignore[misc]
    assert found == [f"of {number}" for number in range(50)]
