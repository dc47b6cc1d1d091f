"""Results that are remembered by texts of clients: bounded in number, and in the characters of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

__all__ = ["remember_short"]

_LONGEST = 1024
"""Characters of the texts of a call that is remembered: those that recur are short, and others would fill the memory."""

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


def remember_short(
    most: int, length: Callable[..., int]
) -> Callable[[Callable[[*Arguments], Result]], Callable[[*Arguments], Result]]:
    """Return a decorator that remembers the `most` latest results of a function.

    `length` counts the characters in the arguments of a call; one that has too many is made anew each time.
    """

    def remembering(function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
        remembered = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(*arguments: *Arguments) -> Result:
            return (remembered if length(*arguments) <= _LONGEST else function)(*arguments)

        return call

    return remembering
