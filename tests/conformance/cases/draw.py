"""Random draws with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["Draw"]

T = TypeVar("T")


class Draw(Random):
    """`random.Random` with the two draws that cases are made of."""

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random() < probability

    def some(self, items: Sequence[T], least: int = 1, most: int = 3) -> list[T]:
        """Between `least` and `most` different items, as many as there are."""
        return self.sample(items, min(len(items), self.randint(least, most)))
