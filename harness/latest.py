"""Caches of the values that were used last, up to a number, so that they do not grow with all that a process has seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Latest", "LatestOf"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
V = TypeVar("V")


class Latest(Generic[K, V]):
    """Values by key. A holder of a value keeps it, also when it was forgotten here."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[K, V] = {}

    def of(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made where it is missing; the value that was not used for the longest time goes."""
        value = self._found.pop(key) if key in self._found else make()
        while len(self._found) >= self._most:
            del self._found[next(iter(self._found))]
        self._found[key] = value  # the newest is the last
        return value

    def __len__(self) -> int:
        return len(self._found)

    def keys(self) -> tuple[K, ...]:
        """Return the keys, the one that was used last at the end."""
        return tuple(self._found)


class LatestOf(Generic[T, V]):
    """Values made of objects that never change, by their identity; the object is kept, so that no other one gets its identity."""

    def __init__(self, most: int) -> None:
        self._found: Latest[tuple[Hashable, ...], tuple[T, V]] = Latest(most)
        self._last: tuple[T, tuple[Hashable, ...], V] | None = None
        """The value that was used last, which is mostly used again."""

    def of(self, thing: T, make: Callable[[], V], *more: Hashable) -> V:
        """Return the result of `make`, for this very object and `more` that it depends on; forgotten as in Latest."""
        last = self._last
        if last is not None and last[0] is thing and last[1] == more:
            return last[2]
        value = self._found.of((id(thing), *more), lambda: (thing, make()))[1]
        self._last = thing, more, value
        return value

    def __len__(self) -> int:
        return len(self._found)
