"""Identifiers that Kubernetes and Azure draw at random, drawn from the seed instead."""

from __future__ import annotations

from hashlib import blake2b

from harness.engine.rng import Rng

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""apimachinery pkg/util/rand: no vowels and no digits that read like letters."""

_MAX_BASE = 63 - 5


class Ids:
    """uids, `generateName` suffixes and request ids of one world."""

    __slots__ = ("_counts", "_names", "_seed")

    def __init__(self, rng: Rng) -> None:
        self._names = rng.stream("names")
        self._seed = rng.seed
        self._counts: dict[str, int] = {}

    def uid(self, subject: str) -> str:
        """Return the uid of the next object that is made under this subject (its kind, namespace and asked name).

        Uids are random, and their order decides: Karpenter and Kubernetes break ties by it. Those of one subject do not
        depend on what else is made, so that two worlds that differ in one object toss alike for all others.
        """
        count = self._counts[subject] = self._counts.get(subject, 0) + 1
        digits = blake2b(f"{self._seed}/{subject}/{count}".encode(), digest_size=15).hexdigest()
        return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-8{digits[15:18]}-{digits[18:]}"

    def suffix(self) -> str:
        """Five characters as `generateName` appends them."""
        draw = self._names.random
        return "".join([_ALPHABET[int(draw() * 27)] for _ in range(5)])

    def generate_name(self, base: str) -> str:
        """The name for a `generateName` (apiserver pkg/storage/names: the base is cut to leave room)."""
        return base[:_MAX_BASE] + self.suffix()
