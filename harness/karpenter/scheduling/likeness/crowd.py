"""The pods of many nodes, each of which may leave, in the order in which pods are tried."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Generic, TypeVar

from harness.karpenter.scheduling.likeness.asking import Place

__all__ = ["Crowd"]

T = TypeVar("T")


class Crowd(Generic[T]):
    """Pods of several owners; of each it is known how many of the same owner stand before it. None has more than ``most``."""

    def __init__(self) -> None:
        self._keys: list[tuple[Any, ...]] = []
        """Their places, each in one piece: so they are compared in a third of the time."""
        self._owners: list[T] = []
        self._before: list[int] = []
        self.most = 0

    def add(self, owner: T, places: Sequence[Place]) -> None:
        """Adds an owner with the places of all its pods, in order."""
        self.most = max(self.most, len(places))
        at = 0
        for before, place in enumerate(places):
            key = _key(place)
            at = bisect(self._keys, key, at)
            self._keys.insert(at, key)
            self._owners.insert(at, owner)
            self._before.insert(at, before)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Drops all owners but some."""
        staying = list(map(stays, self._owners))
        self._keys = list(compress(self._keys, staying))
        self._before = list(compress(self._before, staying))
        self._owners = list(compress(self._owners, staying))

    def before(self, place: Place, at: int = 0) -> int:
        """How many pods stand before a place, before which at least ``at`` stand."""
        return bisect(self._keys, _key(place), at)

    def __len__(self) -> int:
        return len(self._keys)

    def owners(self, begin: int, end: int) -> set[T]:
        """Who owns the pods from one number to another."""
        return set(self._owners[begin:end])

    def owners_of(self, begin: int, end: int, least: int, beyond: int) -> set[T]:
        """The same of pods before which at least so many (``least``) of the same owner stand, and less than ``beyond``."""
        if begin == end:
            return set()
        pods = zip(self._owners[begin:end], self._before[begin:end], strict=True)
        return {owner for owner, before in pods if least <= before < beyond}


def _key(place: Place) -> tuple[Any, ...]:
    rank, fit, name = place
    return *rank, fit, name
