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
    """Pods of several owners, by their number among those of their owner; each number has its own line."""

    def __init__(self) -> None:
        self._lines: list[tuple[list[Place], list[T]]] = []
        """By number: the places of these pods in order, and who owns the pod at each."""

    @property
    def most(self) -> int:
        """No owner has had more pods than this."""
        return len(self._lines)

    def add(self, owner: T, places: Sequence[Place]) -> None:
        """Adds an owner with the places of all its pods, in order."""
        while len(self._lines) < len(places):
            self._lines.append(([], []))
        for (line, owners), place in zip(self._lines, places, strict=False):
            at = bisect(line, place)
            line.insert(at, place)
            owners.insert(at, owner)

    def keep(self, stays: Callable[[T], bool]) -> None:
        """Drops all owners but some."""
        for number, (line, owners) in enumerate(self._lines):
            staying = list(map(stays, owners))
            self._lines[number] = list(compress(line, staying)), list(compress(owners, staying))

    def owners(self, number: int, after: Place | None, until: Place | None) -> Sequence[T]:
        """Whose pod of this number stands after one place and not after another (None: from the first, to the last)."""
        line, owners = self._lines[number]
        begin = 0 if after is None else bisect(line, after)
        return owners[begin : len(line) if until is None else bisect(line, until, begin)]
