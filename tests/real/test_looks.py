"""Which of several looks at a real world is compared."""

from __future__ import annotations

import pytest

from harness.scenario.comparing.looks import best_look


@pytest.mark.parametrize(
    ("differences", "patience", "seen", "looks"),
    [
        ([0], 9, 0, 1),
        ([2, 0, 5], 9, 1, 2),
        ([3, 1, 1, 12], 3, 1, 4),
        ([1, 12], 0, 0, 1),
    ],
    ids=["at once", "until nothing differs", "the first of the best", "no patience"],
)
def test_the_look_that_differs_least(differences: list[int], patience: int, seen: int, looks: int) -> None:
    """A case that ends in the middle of something differs more and more the longer one waits."""
    made: list[int] = []

    def look() -> tuple[range, int]:
        made.append(len(made))
        return range(differences[made[-1]]), made[-1]

    assert best_look(look, lambda: len(made) <= patience) == seen
    assert len(made) == looks
