"""The one source of randomness, split into named streams so that one consumer never disturbs another."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """Seeded randomness. The same seed and the same calls on a stream give the same values."""

    __slots__ = ("_streams", "seed")

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._streams: dict[str, Random] = {}

    def stream(self, name: str) -> Random:
        """The stream of this name (a consumer each: "names", "launch", ...)."""
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = Random(f"{self.seed}/{name}")
        return stream

    def pick(self, name: str, values: Sequence[T]) -> T:
        """Return one of the values, the same one for the same name: no stream moves on."""
        digest = blake2b(f"{self.seed}/{name}".encode(), digest_size=8).digest()
        return values[int.from_bytes(digest, "big") % len(values)]

    def shuffle(self, name: str, values: MutableSequence[T]) -> None:
        """Shuffle in place with the stream of this name."""
        self.stream(name).shuffle(values)

    def choice(self, name: str, values: Sequence[T]) -> T:
        """Return one of the values, by the stream of this name."""
        return self.stream(name).choice(values)
