"""The pods of many nodes, each of which may leave, in the order in which pods are tried."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Generic, TypeVar

from harness.karpenter.scheduling.likeness.asking import Place

__all__ = ["Crowd"]

T = TypeVar("T")


class Crowd(Generic[T]):
    """Pods of several owners; of each it is known how many of the same owner stand before it. None has more than ``most``."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._owners: list[T] = []
        self._before: list[int] = []
        self._counts: dict[T, int] = {}
        self.most = 0

    def add(self, owner: T, places: Sequence[Place]) -> None:
        """Adds an owner with the places of all its pods, in order."""
        self.most = max(self.most, len(places))
        self._counts[owner] = len(places)
        at = 0
        for before, place in enumerate(places):
            at = bisect(self._places, place, at)
            self._places.insert(at, place)
            self._owners.insert(at, owner)
            self._before.insert(at, before)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Drops all owners but some."""
        staying = list(map(stays, self._owners))
        self._places = list(compress(self._places, staying))
        self._before = list(compress(self._before, staying))
        self._owners = list(compress(self._owners, staying))
        self._counts = {owner: count for owner, count in self._counts.items() if stays(owner)}

    def before(self, place: Place, at: int = 0) -> int:
        """How many pods stand before a place, before which at least ``at`` stand."""
        return bisect(self._places, place, at)

    def __len__(self) -> int:
        return len(self._places)

    def owners(self, begin: int, end: int) -> set[T]:
        """Who owns the pods from one number to another."""
        return set(self._owners[begin:end])

    def owners_of(self, begin: int, end: int, least: int, beyond: int) -> set[T]:
        """The same of pods before which at least so many (``least``) of the same owner stand, and less than ``beyond``."""
        if begin == end or least >= beyond:
            return set()
        if end - begin == len(self._places):  # one pod of each number of an owner's is among them
            return {owner for owner, count in self._counts.items() if count > least}
        pods = zip(self._owners[begin:end], self._before[begin:end], strict=True)
        return {owner for owner, before in pods if least <= before < beyond}
