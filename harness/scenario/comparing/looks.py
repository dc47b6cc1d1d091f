"""Several looks at a real world: it is compared as it was when it was most like the simulated one."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import TypeVar

__all__ = ["best_look"]

T = TypeVar("T")


def best_look(look: Callable[[], tuple[Sized, T]], again: Callable[[], bool]) -> T:
    """Look until nothing differs or `again` says no; return what was seen with the fewest differences, the first of equals.

    `look` returns the differences and what was seen. A case may end in the middle of something, as an allocation that is tried in one zone
    after the other: then each later look sees more that the simulated run never came to.
    """
    differences, best = look()
    fewest = len(differences)
    while fewest and again():
        differences, seen = look()
        if len(differences) < fewest:
            fewest, best = len(differences), seen
    return best
