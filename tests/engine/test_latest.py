"""What a cache keeps: the values that were asked for last."""

import pytest

from harness.latest import Latest


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
