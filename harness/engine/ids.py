"""Identifiers that Kubernetes and Azure draw at random, drawn from the seed instead."""

from __future__ import annotations

from harness.engine.rng import Rng

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""apimachinery pkg/util/rand: no vowels and no digits that read like letters."""

_MAX_BASE = 63 - 5


class Ids:
    """uids, `generateName` suffixes and request ids of one world."""

    __slots__ = ("_count", "_names", "_prefix")

    def __init__(self, rng: Rng) -> None:
        self._names = rng.stream("names")
        self._prefix = f"{rng.seed & 0xFFFFFFFF:08x}-0000-4000-8000-"
        self._count = 0

    def uid(self) -> str:
        """The next uid, in the form of a UUID."""
        self._count += 1
        return f"{self._prefix}{self._count:012x}"

    def suffix(self) -> str:
        """Five characters as `generateName` appends them."""
        draw = self._names.random
        return "".join([_ALPHABET[int(draw() * 27)] for _ in range(5)])

    def generate_name(self, base: str) -> str:
        """The name for a `generateName` (apiserver pkg/storage/names: the base is cut to leave room)."""
        return base[:_MAX_BASE] + self.suffix()
